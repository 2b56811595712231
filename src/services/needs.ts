import type { NeedSource } from '../platform/http/index.ts';
import { statement } from '../platform/index.ts';

interface Row {
  id: number;
  domain: string | null;
  status: string;
  suspend_reason: string | null;
}

const inTrouble = statement<Row, { organizationId: number; limit: number }>(
  'services.inTrouble',
  `select t.id, t.domain, t.status, t.suspend_reason from services t
   where t.organization_id = :organizationId
     and (t.status = 'suspended' or t.status = 'pending' and t.provisioning_state = 'failed')
   order by t.id desc limit :limit`,
);

/** Services that could not be built, and those that are suspended. */
export const serviceNeeds = {
  kinds: ['service.failed', 'service.suspended'],
  permission: 'service.read',
  find: async (ctx, limit) => {
    const rows = await ctx.db.many(inTrouble, { organizationId: ctx.organizationId, limit });
    return rows.map(({ id, domain, status, suspend_reason: reason }) => ({
      kind: status === 'suspended' ? 'service.suspended' : 'service.failed',
      ...{ id: String(id), title: domain ?? `#${id}`, detail: reason, on: null },
    }));
  },
} as const satisfies NeedSource;
