import { dropTicketsOf } from '../consoles/index.ts';
import { statement, type TxContext } from '../platform/index.ts';
import type { Mover } from '../services/index.ts';
import { deleteProtection } from './protection.ts';
import { inSql, openStatuses } from './states.ts';

const openAction = statement<{ command: string }, { serviceId: number }>(
  'vps.openActionToMove',
  `select command from vps_actions where service_id = :serviceId and status in ${inSql(openStatuses)} limit 1`,
);
type Moved = { serviceId: number; organizationId: number };
const moves = ['machines', 'vps_access', 'vps_snapshots', 'vps_traffic'].map((table) =>
  statement<never, Moved>(
    `vps.move_${table}`,
    `update ${table} set organization_id = :organizationId where service_id = :serviceId`,
  ),
);

/** A machine goes with its service. What was done to it before, and its charts, stay of the organization that it was of. */
export const vpsMover: Mover = {
  obstacle: async (tx: TxContext, serviceId) => {
    // Whoever it goes to may delete it, so what keeps it from that keeps it here.
    const protection = await deleteProtection(tx, serviceId);
    if (protection !== null) return protection;
    const action = await tx.db.maybe(openAction, { serviceId });
    return action === null ? null : `The action ${action.command} is under way; try again once it is done`;
  },
  move: async (tx, serviceId, organizationId) => {
    for (const move of moves) await tx.db.run(move, { serviceId, organizationId });
    await dropTicketsOf(tx, serviceId);
  },
};
