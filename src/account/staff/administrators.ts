import { fail, statement, type TxContext } from '../../platform/index.ts';
import type { StaffRole } from '../users.ts';

/** Somebody of the provider's, as far as a change of them needs it. */
export interface MemberRow {
  id: number;
  email: string;
  first_name: string;
  last_name: string;
  staff_role: StaffRole | null;
  status: 'active' | 'blocked' | 'closed';
}

const select = 'select id, email, first_name, last_name, staff_role, status from users';
// Those who rule and whoever is to be changed, in one order: of two changes at once the second one sees the first.
const lockRulersAnd = statement<MemberRow, { id: number }>(
  'account.lockAdministratorsAnd',
  `${select} where id = :id or (staff_role = 'administrator' and status = 'active') order by id for no key update`,
);

/** A person of staff, who stays as they are until the transaction ends, and so do the administrators. `not_found`. */
export async function lockMember(tx: TxContext, id: number): Promise<MemberRow & { staff_role: StaffRole }> {
  const rows = await tx.db.many(lockRulersAnd, { id });
  const found = rows.find((row) => row.id === id);
  if (!found || found.staff_role === null) throw fail('not_found');
  return { ...found, staff_role: found.staff_role };
}

/** Before one administrator less: somebody has to be left who can make others. `last_administrator`. */
export async function requireAnother(tx: TxContext, id: number): Promise<void> {
  const rows = await tx.db.many(lockRulersAnd, { id });
  if (!rows.some((row) => row.id !== id)) throw fail('last_administrator');
}
