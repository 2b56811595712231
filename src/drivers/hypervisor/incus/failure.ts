import { HypervisorError, type HypervisorErrorCode } from '../failure.ts';

/** The cluster understood what it was asked and did not do it. */
export class IncusRefusal extends HypervisorError {
  /** As HTTP has it; of an operation that failed as well. */
  readonly status: number;
  constructor(status: number, message: string) {
    super('host_not_ready', message, { waits: ofSilentMember.test(message) });
    this.status = status;
  }
}

/** The cluster knows us, or not, and does not let us. */
export class IncusForbids extends HypervisorError {
  constructor(message: string) {
    super('host_not_ready', `the cluster does not let us: ${message}`);
  }
}

/** Who was asked could not reach the member that the machine is on: it passes on what its connection failed with, and no code of its own. */
const ofSilentMember =
  /\bdial tcp\b|no route to host|i\/o timeout|unable to connect|member is (offline|not online)|no online (cluster )?members/i;

/** Nothing could be learnt from the cluster; what was asked may have happened. `waits`: it is not there at all. */
export function unreachable(message: string, cause?: unknown, waits = false): HypervisorError {
  return new HypervisorError('host_not_ready', message, { cause, waits });
}

/** Gives a refusal the name of what was tried; all other failures keep theirs. */
export async function calling<T>(code: HypervisorErrorCode, work: Promise<T>): Promise<T> {
  return work.catch((error: unknown) => {
    if (!(error instanceof IncusRefusal) || error.waits) throw error;
    if (/no space left|quota|not enough (free )?space/i.test(error.message))
      throw new HypervisorError('no_space', 'The node has no room left for this', { cause: error });
    throw new HypervisorError(code, error.message, { cause: error });
  });
}

/** Null where the thing is not there. */
export async function unlessAbsent<T>(work: Promise<T>): Promise<T | null> {
  return work.catch((error: unknown) => {
    if (error instanceof IncusRefusal && error.status === 404) return null;
    throw error;
  });
}
