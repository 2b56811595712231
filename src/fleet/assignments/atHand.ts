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
