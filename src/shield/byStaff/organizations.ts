import { record } from '../../events/index.ts';
import { type Context, requireRow, statement, type TxContext, transaction } from '../../platform/index.ts';
import { organizationChanged } from '../events.ts';

interface Row {
  id: number;
  name: string;
  blackholes: 'allowed' | 'forbidden' | null;
}

const organizationById = statement<Row, { id: number }>(
  'shield.organization',
  `select o.id, o.name, d.blackholes from organizations o left join shield_organizations d on d.organization_id = o.id
   where o.id = :id`,
);
const lock = statement<{ id: number }, { id: number }>(
  'shield.lockOrganization',
  'select id from organizations where id = :id for no key update',
);
const set = statement<never, { id: number; blackholes: Row['blackholes']; now: Date }>(
  'shield.setOrganization',
  `insert into shield_organizations (organization_id, blackholes, updated_at) values (:id, :blackholes, :now)
   on conflict (organization_id) do update set blackholes = excluded.blackholes, updated_at = excluded.updated_at`,
);

/** What staff has said of an organization's addresses. `not_found`. */
export async function readShieldOrganization(ctx: Context, id: number) {
  return { organization: await requireRow(ctx, organizationById, { id }) };
}

export async function lockShieldOrganization(tx: TxContext, id: number): Promise<void> {
  await tx.db.maybe(lock, { id });
}

/** Allows or forbids that packets to its addresses are sent to nowhere; null leaves it to the owner of each. `not_found`. */
export function changeShieldOrganization(
  ctx: Context,
  id: number,
  { blackholes }: { blackholes?: Row['blackholes'] | undefined },
) {
  return transaction(ctx, 'shield.changeOrganization', async (tx) => {
    await lockShieldOrganization(tx, id);
    const before = await requireRow(tx, organizationById, { id });
    if (blackholes !== undefined) {
      await tx.db.run(set, { id, blackholes, now: tx.clock.now() });
      await record(tx, organizationChanged, {
        subject: { type: 'organization', id },
        organizationId: id,
        data: { blackholes, before: before.blackholes },
      });
    }
    return readShieldOrganization(tx, id);
  });
}
