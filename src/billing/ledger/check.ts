import {
  formatMoney,
  type MeasureSource,
  type PeriodicJob,
  statement,
  type TxContext,
} from '../../platform/index.ts';
import { receivablesThatDiffer } from './receivables.ts';
import { type Difference, totalsThatDiffer } from './totals.ts';

type Stage = 'transactions' | 'credit' | 'receivable' | 'totals' | 'done';

interface Check {
  stage: Stage;
  reached: number;
  started_at: Date;
  finished_at: Date | null;
}

const lockCheck = statement<Check>(
  'billing.lockLedgerCheck',
  'select stage, reached, started_at, finished_at from ledger_checks for update',
);
const insertCheck = statement<Check, { now: Date }>(
  'billing.insertLedgerCheck',
  `insert into ledger_checks (stage, reached, started_at) values ('transactions', 0, :now)
   returning stage, reached, started_at, finished_at`,
);
const writeCheck = statement<
  never,
  { stage: Stage; reached: number; startedAt: Date; finishedAt: Date | null }
>(
  'billing.writeLedgerCheck',
  `update ledger_checks set stage = :stage, reached = :reached, started_at = :startedAt, finished_at = :finishedAt`,
);

const newestTransaction = statement<{ id: number }>(
  'billing.newestLedgerTransaction',
  'select coalesce(max(id), 0)::bigint as id from ledger_transactions',
);
const unbalanced = statement<{ id: number; minor: number }, { after: number; until: number }>(
  'billing.unbalancedTransactions',
  `select t.id, coalesce(sum(e.amount_minor), 0)::bigint as minor
   from ledger_transactions t left join ledger_entries e on e.transaction_id = t.id
   where t.id > :after and t.id <= :until
   group by t.id having coalesce(sum(e.amount_minor), 0) <> 0 or count(e.account_id) < 2`,
);

interface CreditAccount {
  id: number;
  organization_id: number;
  currency: string;
  shown_minor: number;
  summed_minor: number;
  wrong_entries: number;
}

// What is shown is the balance that the newest entry carries; what counts is the sum of all entries.
const creditAccounts = statement<CreditAccount, { after: number; limit: number }>(
  'billing.recomputedCredit',
  `select a.id, a.organization_id, a.currency, e.shown_minor, e.summed_minor, e.wrong_entries
   from (select id, organization_id, currency from ledger_accounts where kind = 'credit' and id > :after
         order by id limit :limit) a
   cross join lateral (
     select coalesce((array_agg(b.balance_minor order by b.sequence desc))[1], 0) as shown_minor,
       coalesce(-sum(b.amount_minor), 0)::bigint as summed_minor,
       count(*) filter (where b.balance_minor is distinct from b.so_far or b.sequence is distinct from b.nth)::int
         as wrong_entries
     from (select n.sequence, n.amount_minor, n.balance_minor,
             -sum(n.amount_minor) over (order by n.sequence) as so_far, row_number() over (order by n.sequence) as nth
           from ledger_entries n where n.account_id = a.id) b) e
   order by a.id`,
);

const insertDifferences = statement<never, { differences: string; now: Date; seenAt: Date }>(
  'billing.insertLedgerDifferences',
  `insert into ledger_differences (organization_id, what, subject, message, since, seen_at)
   select d."organizationId", d.what, d.subject, d.message, :now, :seenAt
   from jsonb_to_recordset(:differences::jsonb) as d("organizationId" bigint, what text, subject text, message text)
   on conflict on constraint ledger_differences_once
     do update set message = excluded.message, seen_at = excluded.seen_at`,
);
const forgetMended = statement<never, { startedAt: Date }>(
  'billing.forgetMendedDifferences',
  'delete from ledger_differences where seen_at < :startedAt',
);

/** When the night's check begins, UTC. */
const hourOfCheck = 2;

// One that has not come to its end goes on.
const nextCheck = statement<{ at: Date | null }, { now: Date }>(
  'billing.nextLedgerCheck',
  `select case when count(*) = 0 or bool_or(stage <> 'done') then :now::timestamptz
     else date_trunc('day', max(started_at) - interval '${hourOfCheck} hours', 'UTC') + interval '${24 + hourOfCheck} hours' end as at
   from ledger_checks`,
);

const transactionsAtOnce = 20_000;
const accountsAtOnce = 500;

/**
 * Computes every balance anew from its entries, once a night and a batch at a time, and holds it against what the
 * product shows. A difference is a bug or somebody's hand in the database: staff is told, and it stands in
 * `/metrics`, until a check finds it gone.
 */
export const ledgerCheck: PeriodicJob = {
  name: 'billing.checkLedger',
  intervalMs: 60_000,
  due: nextCheck,
  anyTime: true,
  work: checkLedger,
};

async function checkLedger(tx: TxContext): Promise<'more' | 'done'> {
  const now = tx.clock.now();
  const check = (await tx.db.maybe(lockCheck)) ?? (await tx.db.one(insertCheck, { now }));
  if (check.stage === 'done') {
    if (nightOf(check.started_at) === nightOf(now)) return 'done';
    await tx.db.run(writeCheck, { ...begin(now), finishedAt: check.finished_at });
    return 'more';
  }
  const { differences, stage, reached } = await look(tx, check);
  if (differences.length > 0) {
    await tx.db.run(insertDifferences, {
      differences: JSON.stringify(differences),
      now,
      seenAt: check.started_at,
    });
    tx.log.error({ differences: differences.slice(0, 10) }, 'the ledger is not what is shown');
  }
  if (stage === 'done') await tx.db.run(forgetMended, { startedAt: check.started_at });
  const finishedAt = stage === 'done' ? now : check.finished_at;
  await tx.db.run(writeCheck, { stage, reached, startedAt: check.started_at, finishedAt });
  return stage === 'done' ? 'done' : 'more';
}

function begin(now: Date) {
  return { stage: 'transactions' as const, reached: 0, startedAt: now };
}

/** Days that begin at the hour of the check. */
function nightOf(time: Date): number {
  return Math.floor((time.getTime() / 3_600_000 - hourOfCheck) / 24);
}

interface Looked {
  differences: Difference[];
  stage: Stage;
  reached: number;
}

async function look(tx: TxContext, { stage, reached }: Check): Promise<Looked> {
  if (stage === 'transactions') {
    const { id: newest } = await tx.db.one(newestTransaction);
    const until = Math.min(reached + transactionsAtOnce, newest);
    const found = await tx.db.many(unbalanced, { after: reached, until });
    const differences = found.map(({ id, minor }) => ({
      organizationId: null,
      what: 'unbalanced transaction',
      subject: String(id),
      message: `The entries of ledger transaction ${id} add up to ${minor} instead of 0`,
    }));
    return until < newest
      ? { differences, stage, reached: until }
      : { differences, stage: 'credit', reached: 0 };
  }
  if (stage === 'credit') {
    const found = await tx.db.many(creditAccounts, { after: reached, limit: accountsAtOnce });
    const wrong = found.filter((each) => each.wrong_entries > 0 || each.shown_minor !== each.summed_minor);
    const last = found.at(-1);
    const isLast = found.length < accountsAtOnce || last === undefined;
    const differences = wrong.map(creditDifference);
    return isLast
      ? { differences, stage: 'receivable', reached: 0 }
      : { differences, stage, reached: last.id };
  }
  if (stage === 'receivable') {
    const { differences, last } = await receivablesThatDiffer(tx, { after: reached, limit: accountsAtOnce });
    return last === null
      ? { differences, stage: 'totals', reached: 0 }
      : { differences, stage, reached: last };
  }
  return { differences: await totalsThatDiffer(tx), stage: 'done', reached: 0 };
}

function creditDifference(account: CreditAccount): Difference {
  const { id, organization_id: organizationId, currency, shown_minor, summed_minor, wrong_entries } = account;
  const [shown, summed] = [shown_minor, summed_minor].map(
    (minor) => `${formatMoney(minor, currency)} ${currency}`,
  );
  return {
    organizationId,
    what: 'credit',
    subject: String(id),
    message: `Organization ${organizationId} is shown ${shown} of credit; its entries add up to ${summed} (${wrong_entries} of them carry another balance than that so far)`,
  };
}

const measured = statement<{ differences: number; finished_at: Date | null }>(
  'billing.measureLedger',
  `select (select count(*)::int from ledger_differences) as differences, (select finished_at from ledger_checks)`,
);

/** Whether the books are right, and when that was last looked at. */
export const ledgerMeasures: MeasureSource = {
  measures: [
    { name: 'ledger_differences', help: 'Balances that are shown and are not what their entries add up to.' },
    {
      name: 'ledger_checked_timestamp_seconds',
      help: 'When all balances were last computed anew, in seconds since 1970.',
    },
  ],
  read: async (ctx) => {
    const { differences, finished_at } = await ctx.db.one(measured);
    return [
      { name: 'ledger_differences', value: differences },
      ...(finished_at === null
        ? []
        : [{ name: 'ledger_checked_timestamp_seconds', value: finished_at.getTime() / 1_000 }]),
    ];
  },
};
