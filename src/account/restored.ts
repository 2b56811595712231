import { record } from '../events/index.ts';
import {
  databaseJob,
  enqueue,
  findLastRestore,
  type NamedJob,
  statement,
  type TxContext,
} from '../platform/index.ts';
import { accountPutBack } from './events.ts';

const toldAtOnce = 200;

const keyOwners = statement<{ id: number; keys: number }, { after: number; now: Date; limit: number }>(
  'account.keyOwnersToTell',
  `select u.id, count(*)::int as keys from users u join api_keys k on k.user_id = u.id
   where u.id > :after and u.status = 'active' and k.revoked_at is null and (k.expires_at is null or k.expires_at > :now)
   group by u.id order by u.id limit :limit`,
);

interface Payload {
  asOf: string;
  /** Those with smaller ids were told. */
  after: number;
}

const telling: NamedJob<Payload> = { name: 'account.tellOfRestore' };

/**
 * After a restore a key that was revoked since the backup opens again, and nothing here knows which. Keys go on, for all else of a
 * customer's would stand still on the worst of days, and whoever has one is told what to look at.
 */
export async function tellKeyOwners(tx: TxContext): Promise<void> {
  const restore = await findLastRestore(tx);
  if (restore !== null)
    await enqueue(tx, telling, { asOf: restore.made_at.toISOString(), after: 0 }, { organizationId: null });
}

/** Tells them, a batch in each job. */
export const restoreTelling = databaseJob<Payload>(telling.name, async (tx, { asOf, after }) => {
  const people = await tx.db.many(keyOwners, { after, now: tx.clock.now(), limit: toldAtOnce });
  for (const { id, keys } of people)
    await record(tx, accountPutBack, {
      subject: { type: 'user', id },
      organizationId: null,
      data: { user_id: id, made_at: asOf, api_keys: keys },
    });
  const last = people.at(-1);
  if (last !== undefined && people.length === toldAtOnce)
    await enqueue(tx, telling, { asOf, after: last.id }, { organizationId: null });
});
