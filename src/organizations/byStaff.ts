import { record } from '../events/index.ts';
import { forgetPrincipals } from '../platform/http/index.ts';
import {
  fail,
  requireCountry,
  requireRow,
  type StaffContext,
  statement,
  type TxContext,
  transaction,
} from '../platform/index.ts';
import { organizationBlocked, organizationCorrected, organizationUnblocked } from './events.ts';
import { ownerOf } from './inCharge.ts';
import { readAnyOrganization } from './organizationStaff.ts';

/** What staff does with an organization. */

interface Row {
  name: string;
  country: string | null;
  require_2fa: boolean;
  status: 'active' | 'blocked' | 'closed';
}

const lockForStaff = statement<Row, { id: number }>(
  'organizations.lockForStaff',
  'select name, country, require_2fa, status from organizations where id = :id for no key update',
);
const setStatus = statement<never, { id: number; status: Row['status']; reason: string | null; now: Date }>(
  'organizations.setStatus',
  'update organizations set status = :status, status_reason = :reason, status_since = :now where id = :id',
);
const correct = statement<never, Omit<Row, 'status'> & { id: number }>(
  'organizations.correct',
  'update organizations set name = :name, country = :country, require_2fa = :require_2fa where id = :id',
);

/** Nobody changes the organization until the transaction ends. `not_found`. */
export function lockAnyOrganization(tx: TxContext, id: number): Promise<Row> {
  return requireRow(tx, lockForStaff, { id });
}

export interface Correction {
  name?: string | undefined;
  country?: string | null | undefined;
  /** Staff takes it away from who locked themselves out, and does not put it on. */
  require_2fa?: false | undefined;
}

/** Corrects what an organization says of itself; what is absent stays, and null clears. `not_found`, `conflict`. */
export function correctOrganization(ctx: StaffContext, id: number, change: Correction) {
  requireCountry('country', change.country);
  return ofOpen(ctx, 'organizations.correct', id, async (tx, { status: _, ...before }) => {
    const after = {
      name: change.name ?? before.name,
      country: change.country === undefined ? before.country : change.country,
      require_2fa: change.require_2fa ?? before.require_2fa,
    };
    const fields = (Object.keys(after) as (keyof typeof after)[]).filter(
      (field) => after[field] !== before[field],
    );
    if (fields.length === 0) return;
    await tx.db.run(correct, { ...after, id });
    await record(tx, organizationCorrected, {
      ...about(id),
      data: { user_id: await ownerOf(tx, id), organization: after.name, fields },
    });
  });
}

/**
 * Lets an organization order and change nothing any more; what runs goes on, and what is owed can be paid. `not_found`,
 * `conflict` for one that is blocked already, or closed.
 */
export function blockOrganization(ctx: StaffContext, id: number, reason: string) {
  return ofOpen(ctx, 'organizations.block', id, async (tx, { status, name }) => {
    if (status === 'blocked') throw fail('conflict', { message: 'This organization is blocked already' });
    await tx.db.run(setStatus, { id, status: 'blocked', reason, now: tx.clock.now() });
    await record(tx, organizationBlocked, {
      ...about(id),
      data: { user_id: await ownerOf(tx, id), organization: name, reason },
    });
  });
}

/** Lets it go on. `not_found`, `conflict`. */
export function unblockOrganization(ctx: StaffContext, id: number) {
  return ofOpen(ctx, 'organizations.unblock', id, async (tx, { status, name }) => {
    if (status !== 'blocked') throw fail('conflict', { message: 'This organization is not blocked' });
    await tx.db.run(setStatus, { id, status: 'active', reason: null, now: tx.clock.now() });
    await record(tx, organizationUnblocked, {
      ...about(id),
      data: { user_id: await ownerOf(tx, id), organization: name },
    });
  });
}

function ofOpen(
  ctx: StaffContext,
  name: string,
  id: number,
  work: (tx: StaffContext & TxContext, row: Row) => Promise<void>,
) {
  return transaction(ctx, name, async (tx) => {
    const row = await lockAnyOrganization(tx, id);
    if (row.status === 'closed')
      throw fail('conflict', { message: 'This organization was closed: nobody is in it any more' });
    await work(tx, row);
    tx.db.afterCommit(forgetPrincipals);
    return readAnyOrganization(tx, id);
  });
}

function about(id: number) {
  return { subject: { type: 'organization', id }, organizationId: id };
}
