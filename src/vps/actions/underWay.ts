import type { UnderWay } from '../../events/index.ts';
import { statement } from '../../platform/index.ts';
import type { ActionStatus } from '../states.ts';
import { holdsLock } from './lock.ts';

interface Row {
  id: number;
  organization_id: number;
  service_id: number;
  command: string;
  status: ActionStatus;
  progress: number;
  note: string | null;
}

const actionsUnderWay = statement<Row, { organizationIds: number[] }>(
  'vps.actionsUnderWay',
  // A range of the index of locks: few machines are at something at a moment.
  `select id, organization_id, service_id, command, status, progress, note from vps_actions a
   where ${holdsLock('a')} and organization_id = any(:organizationIds::bigint[])`,
);

/** How far actions on machines have come, also of those that nobody asked for by hand. */
export const actionProgress: UnderWay = {
  event: 'vps.action.progress',
  permission: 'vps.read',
  list: async (ctx, organizationIds) => {
    const rows = await ctx.db.many(actionsUnderWay, { organizationIds: [...organizationIds] });
    return rows.map(
      ({ id, organization_id: organizationId, service_id, command, status, progress, note }) => ({
        ...{ id, organizationId, subject: { type: 'service', id: service_id } },
        data: { action_id: id, command, status, progress, note },
      }),
    );
  },
};
