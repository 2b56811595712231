import { record } from '../../events/index.ts';
import {
  type Context,
  fail,
  type OrganizationContext,
  statement,
  transaction,
} from '../../platform/index.ts';
import { credentialsShown } from '../events.ts';
import { requireDedicated } from '../queries.ts';
import { openCredentials } from './keep.ts';

interface Row {
  username: string;
  password: Buffer | null;
  made_at: Date;
  shown_at: Date | null;
  shown_to: string | null;
}

// A name is told within the organization that it was shown in.
const find = statement<Row, { serviceId: number; organizationId: number }>(
  'dedicated.credentials',
  `select c.username, c.password, c.made_at, c.shown_at,
     case when c.organization_id = :organizationId then u.email end as shown_to
   from dedicated_credentials c left join users u on u.id = c.shown_to where c.service_id = :serviceId`,
);
const take = statement<
  { username: string; password: Buffer },
  { serviceId: number; organizationId: number; userId: number | null; now: Date }
>(
  'dedicated.showPassword',
  `update dedicated_credentials c set password = null, shown_at = :now, shown_to = :userId::bigint, organization_id = :organizationId
   from (select service_id, password from dedicated_credentials where service_id = :serviceId for update) before
   where c.service_id = before.service_id and before.password is not null returning c.username, before.password`,
);

/** Whether there is a password of a server that we made and that was not shown yet, or to whom and when it was. Null: there is none. */
export async function readCredentials(ctx: OrganizationContext, id: number) {
  const { status } = await requireDedicated(ctx, id);
  const row = await findRow(ctx, id);
  if (row === null || status === 'pending') return { credentials: null };
  const { username, password, made_at, shown_at, shown_to } = row;
  return { credentials: { username, available: password !== null, made_at, shown_at, shown_to } };
}

/** Shows it, once: `conflict` says that there is none, or to whom it was shown. On the record. */
export async function showCredentials(ctx: OrganizationContext, id: number) {
  return transaction(ctx, 'dedicated.showCredentials', async (tx) => {
    const { status, organizationId } = await requireDedicated(tx, id, { lock: true });
    if (status !== 'active') throw fail('action_not_allowed', { message: `The service is ${status}` });
    const { userId } = tx.actor;
    const taken = await tx.db.maybe(take, { serviceId: id, organizationId, userId, now: tx.clock.now() });
    if (taken === null) throw fail('conflict', { message: whyNone(await findRow(tx, id)) });
    const { username, password } = taken;
    await record(tx, credentialsShown, { subject: { type: 'service', id }, data: { username } });
    return { credentials: { username, password: openCredentials(tx, id, password) } };
  });
}

function findRow(ctx: Context & OrganizationContext, serviceId: number): Promise<Row | null> {
  return ctx.db.maybe(find, { serviceId, organizationId: ctx.organizationId });
}

function whyNone(row: Row | null): string {
  if (row?.shown_at == null) return 'There is no password of this server that we made';
  const whom = row.shown_to === null ? '' : ` to ${row.shown_to}`;
  return `The password was shown${whom} at ${row.shown_at.toISOString()}, and is kept nowhere any more`;
}
