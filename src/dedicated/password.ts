import { keepBmcPassword, type Renewed, renewBmcPassword } from '../fleet/index.ts';
import type { Run, Step } from '../platform/index.ts';
import { type AtServer, serverIn } from './stages.ts';

/** What a saga remembers that gives the BMC of its server a new password. */
export type WithPassword = AtServer & Renewed;

/**
 * Whoever was root on a server owns its BMC as well, over the machine's own bus. So it has another password when the server is handed over, and when it came back. `since`:
 * as of when a silent BMC is waited for. `before`: throws where the server is somebody else's by now, whose BMC has a password of theirs.
 */
export function passwordStep<P, S extends WithPassword>(
  since: (run: Run<P, S>) => Promise<Date>,
  before?: (run: Run<P, S>) => Promise<void>,
): Step<P, S> {
  return {
    name: 'password',
    do: async (run) => {
      await before?.(run);
      return (await renewBmcPassword(run, serverIn(run.state), await since(run))) as Partial<S>;
    },
    recorded: async (tx, _payload, { serverId, bmcAt, passwordNo }) => {
      if (serverId !== undefined && bmcAt !== undefined && passwordNo !== undefined)
        await keepBmcPassword(tx, serverId, bmcAt, passwordNo);
    },
  };
}
