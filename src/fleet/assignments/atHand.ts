import type { Context, Drivers } from '../../platform/index.ts';
import type { AssignmentFailure } from './rows.ts';

/** What a step of a saga has at hand. */
export interface AtHand {
  ctx: Context;
  drivers: Drivers;
  signal: AbortSignal;
  /** It was held after a restore of the database: what is known of the server may be of before somebody else got it. */
  isHeld: boolean;
}

/** Why an assignment cannot come to its end, be it the server's fault or not; `permanent`. */
export class ServerFailure extends Error {
  readonly code: AssignmentFailure;
  readonly permanent = true;
  constructor(code: AssignmentFailure, message: string, options: { cause?: unknown } = {}) {
    super(message, options);
    this.code = code;
  }
}

/** Somebody waits for the server, and to look costs a few statements. */
const lookAgainMs = 1_000;

/**
 * What a step throws while a server is still at something: its job comes again, and no attempt is used up. `message` is for whoever looks at the job. `isSoon`: within
 * a second; where nobody waits for it, or a BMC is asked each time, as after an outage.
 */
export function atWork(message: string, { isSoon = true } = {}): Error {
  const error = Object.assign(new Error(message), { code: 'server_at_work', waits: true });
  return isSoon ? Object.assign(error, { againWithinMs: lookAgainMs }) : error;
}
