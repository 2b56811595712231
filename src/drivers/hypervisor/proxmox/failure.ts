import { HypervisorError, type HypervisorErrorCode } from '../failure.ts';

/** The cluster understood what it was asked and did not do it. */
export class ProxmoxRefusal extends HypervisorError {
  /** As HTTP has it; 500 of a task that failed. */
  readonly status: number;
  constructor(status: number, message: string) {
    super('host_not_ready', message, { waits: isOfSilentNode(status) });
    this.status = status;
  }
  get isOfSilentNode(): boolean {
    return isOfSilentNode(this.status);
  }
  /** What is asked of a machine that is not there is answered like this, and so is what we may not ask. */
  get mayBeOfNoMachine(): boolean {
    return this.status === 403 || /^Configuration file '[^']*' does not exist/.test(this.message);
  }
}

/** Whoever answered could not reach the node that was meant: statuses of its own that HTTP does not have. */
function isOfSilentNode(status: number): boolean {
  return status >= 595 && status <= 599;
}

/** Gives a refusal the name of what was tried; all other failures keep theirs. */
export async function calling<T>(code: HypervisorErrorCode, work: Promise<T>): Promise<T> {
  return work.catch((error: unknown) => {
    if (!(error instanceof ProxmoxRefusal) || error.isOfSilentNode) throw error;
    if (
      /no space left|out of space|not enough (free )?space|insufficient free space|quota/i.test(error.message)
    )
      throw new HypervisorError('no_space', 'The node has no room left for this', { cause: error });
    throw new HypervisorError(code, error.message, { cause: error });
  });
}
