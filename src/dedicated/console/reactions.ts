import { on, record } from '../../events/index.ts';
import { serverConsoleOpened } from '../../fleet/index.ts';
import type { Reaction } from '../../platform/index.ts';
import { requireOrder } from '../../services/index.ts';
import { staffOpenedConsole } from '../events.ts';

/** A customer reads in the activity of their organization that staff looked at the console of their server, and why. */
export const consoleReactions: Reaction[] = [
  on(
    serverConsoleOpened,
    'dedicated.noteStaffConsole',
    async (tx, { data: { reason, service_id: id } }) => {
      if (id === null) return;
      const { organizationId } = await requireOrder(tx, id);
      await record(tx, staffOpenedConsole, {
        subject: { type: 'service', id },
        organizationId,
        data: { reason },
      });
    },
    { when: (data) => data.service_id !== null },
  ),
];
