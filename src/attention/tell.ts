import { staffAddresses } from '../account/index.ts';
import { record } from '../events/index.ts';
import {
  aheadMs,
  type ConcernParams,
  type ConcernSource,
  type Context,
  findConcerns,
  type PeriodicJob,
  type Statement,
  statement,
  type TxContext,
} from '../platform/index.ts';
import { staffTold } from './events.ts';

/** Mails of one kind are at least so far apart; what comes meanwhile is gathered. */
const gatherMs = 15 * 60_000;
const ofAKind = 100;

const forget = statement<never, { kind: string; ids: number[] }>(
  'attention.forget',
  'delete from staff_concerns where kind = :kind and subject_id <> all(:ids::bigint[])',
);
const note = statement<never, { kind: string; ids: number[] }>(
  'attention.note',
  `insert into staff_concerns (kind, subject_id) select :kind, id from unnest(:ids::bigint[]) id
   on conflict do nothing`,
);
const takeTurn = statement<{ kind: string }, { kind: string; now: Date; before: Date; ahead: Date }>(
  'attention.takeTurn',
  `insert into staff_mailings (kind, told_at) values (:kind, :now)
   on conflict (kind) do update set told_at = excluded.told_at
   where staff_mailings.told_at <= :before or staff_mailings.told_at > :ahead
   returning kind`,
);
const untold = statement<{ subject_id: number }, { kind: string }>(
  'attention.untold',
  'select subject_id from staff_concerns where kind = :kind and not told',
);
const markTold = statement<never, { kind: string }>(
  'attention.markTold',
  'update staff_concerns set told = true where kind = :kind and not told',
);

/** Of which kinds what needs a person is not what staff was told of: one statement for all, since mostly it is. */
function kindsThatDiffer(sources: readonly ConcernSource[]): Statement<{ kind: string }, ConcernParams> {
  const each = sources.map(({ kind, find }) => {
    const sql = find.text.replace(/\$(\d+)/g, (_, at: string) => `:${find.names[Number(at) - 1]}`);
    return `select '${kind}' as kind
     from (select coalesce(array_agg(distinct found.id::bigint), '{}') as ids from (${sql}) as found) now,
       (select coalesce(array_agg(subject_id order by subject_id) filter (where told), '{}') as ids, count(*) as noted
        from staff_concerns where kind = '${kind}') told
     where now.ids <> told.ids or told.noted <> cardinality(told.ids)`;
  });
  const none = 'select null where :now::timestamptz is null and :limit::bigint is null';
  return statement('attention.kindsThatDiffer', [...each, none].join('\nunion all '));
}

/** Tells staff by mail what newly needs a person: each thing once, as long as it lasts. */
export function attentionPeriodicJob(sources: readonly ConcernSource[]): PeriodicJob {
  const differing = kindsThatDiffer(sources);
  const kindsOf = async (ctx: Context) => {
    const found = await ctx.db.many(differing, { now: ctx.clock.now(), limit: ofAKind });
    return new Set(found.map(({ kind }) => kind));
  };
  return {
    name: 'attention.tell',
    intervalMs: 30_000,
    isNeeded: async (ctx) => ctx.config.staffEmail !== 'off' && (await kindsOf(ctx)).size > 0,
    work: async (tx) => {
      if (tx.config.staffEmail === 'off') return;
      const kinds = await kindsOf(tx);
      for (const source of sources) if (kinds.has(source.kind)) await tellOf(tx, source);
    },
  };
}

async function tellOf(tx: TxContext, source: ConcernSource): Promise<void> {
  const { kind, title } = source;
  const concerns = await findConcerns(tx, source, ofAKind);
  const ids = concerns.map(({ id }) => id);
  // A list that is full may have left out some that were told of and are still so.
  if (ids.length < ofAKind) await tx.db.run(forget, { kind, ids });
  await tx.db.run(note, { kind, ids });
  const fresh = new Set((await tx.db.many(untold, { kind })).map((row) => row.subject_id));
  if (fresh.size === 0) return;
  const now = tx.clock.now();
  const before = new Date(now.getTime() - gatherMs);
  const ahead = new Date(now.getTime() + aheadMs); // told by a clock that was ahead
  const turn = await tx.db.maybe(takeTurn, { kind, now, before, ahead });
  if (turn === null) return;
  await tx.db.run(markTold, { kind });
  const news = concerns.filter(({ id }) => fresh.has(id)).map(({ id, message }) => ({ id, message }));
  for (const recipient of await recipientsOf(tx)) {
    await record(tx, staffTold, {
      subject: { type: 'staff', id: 0 },
      organizationId: null,
      data: { recipient, kind, title, concerns: news },
    });
  }
}

async function recipientsOf(tx: TxContext): Promise<string[]> {
  const { staffEmail } = tx.config;
  return staffEmail === null ? staffAddresses(tx) : [staffEmail];
}
