import { record } from '../events/index.ts';
import { type OrganizationContext, statement, type TxContext, transaction } from '../platform/index.ts';
import { serviceUpdated } from './events.ts';
import { readService } from './read.ts';
import { requireAction, type ServiceAction } from './states.ts';
import { lockTerms } from './terms.ts';

const lock = statement<{ id: number }, { id: number }>(
  'services.lock',
  'select id from services where id = :id for no key update',
);
const setAutoRenew = statement<never, { id: number; autoRenew: boolean }>(
  'services.setAutoRenew',
  'update services set auto_renew = :autoRenew where id = :id',
);
const setNote = statement<never, { id: number; note: string | null }>(
  'services.setNote',
  'update services set note = :note where id = :id',
);

/** Nobody changes the service until the transaction ends; one that is not there is nobody's to lock. */
export async function lockForChange(tx: TxContext, id: number): Promise<void> {
  await tx.db.maybe(lock, { id });
}

/** Whether a service of the organization renews by itself. `conflict` for one that has ended. */
export function changeService(ctx: OrganizationContext, id: number, change: { auto_renew?: boolean }) {
  const { auto_renew: autoRenew } = change;
  if (autoRenew === undefined) return readService(ctx, id);
  return changing(ctx, id, 'auto_renew', { auto_renew: autoRenew }, (tx) =>
    tx.db.run(setAutoRenew, { id, autoRenew }),
  );
}

/** What an organization notes of its service, for itself. */
export function changeNote(ctx: OrganizationContext, id: number, { note }: { note: string | null }) {
  return changing(ctx, id, 'note', { note }, (tx) => tx.db.run(setNote, { id, note }));
}

/** What says the same as before is no change, and the journal does not tell of it. */
function changing(
  ctx: OrganizationContext,
  id: number,
  action: ServiceAction & ('auto_renew' | 'note'),
  change: { auto_renew: boolean } | { note: string | null },
  write: (tx: TxContext) => Promise<unknown>,
) {
  return transaction(ctx, 'services.change', async (tx) => {
    await lockForChange(tx, id);
    const { service } = await readService(tx, id);
    requireAction(action, await lockTerms(tx, id), tx.clock.now());
    if (Object.values(change)[0] === service[action]) return { service };
    await write(tx);
    await record(tx, serviceUpdated, { subject: { type: 'service', id }, data: { change } });
    return readService(tx, id);
  });
}
