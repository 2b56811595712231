import { type Context, statement } from '../../platform/index.ts';

/** A debit has an answer after three weeks at most, holidays and all. */
const mostDaysOnItsWay = 30;

/** A payment that the provider has not answered for, and since when it is on its way. */
export interface Coming {
  driver: string;
  since: string;
}

/** How far a payment that came back counts. Both are SQL. */
interface Period {
  /** What came back before is forgotten. */
  since: string;
  /** Selects the ids of other invoices for the same: what came back of them counts as well. */
  invoices?: string;
}

/**
 * The period of a service that begins on that day. What came back before has spared nothing: what is sent after it counts. There may be
 * several invoices for it: each cycle that the customer asks for is another one.
 */
export const renewalOf = (service: string, startsOn: string): Period => ({
  since: `${startsOn}::timestamp at time zone 'UTC'`,
  invoices: `select r.invoice_id from service_renewals r where r.service_id = ${service} and r.starts_on = ${startsOn}`,
});

/** An invoice that is for nothing that another was for. */
export const ofItself: Period = { since: `'-infinity'` };

const cameBackSince = (charge: string, { since }: Period) =>
  `${charge}.state = 'failed' and ${charge}.finished_at >= ${since}`;
const debitCameBackSince = (charge: string, period: Period) =>
  `${cameBackSince(charge, period)} and ${charge}.pending_at is not null`;
// One array that is made before: with `or` or a join no index would find the charges, and each row would read all there are.
const eachOf = (invoice: string, { invoices }: Period) =>
  invoices === undefined ? invoice : `any(array(${invoices}) || ${invoice})`;

/** That of an invoice of whatever kind: what the calendar asks by of a renewal, and the expiry of any other. */
const periodOf = (invoice: string): Period => {
  const renewal = (column: string) =>
    `(select w.${column} from service_renewals w where w.invoice_id = ${invoice})`;
  const period = renewalOf(renewal('service_id'), renewal('starts_on'));
  return { ...period, since: `coalesce(${period.since}, ${ofItself.since})` };
};

/**
 * SQL for the newest payment of an invoice that is on its way; null for none. After one that came back it is nothing to rely on: no
 * service and no order waits for the next (see {@link isOnItsWay}), so its customer may pay in another way before they lose them.
 */
export const comingOf = (invoice: string) => {
  const period = periodOf('c.invoice_id');
  // Counted, so that it is looked for where something is pending and not for each invoice of a list.
  return `(select jsonb_build_object('driver', c.driver, 'since', coalesce(c.pending_at, c.created_at)) from charges c
    where c.invoice_id = ${invoice} and c.state = 'pending' and (select count(*) from charges b
      where b.invoice_id = ${eachOf('c.invoice_id', period)} and ${debitCameBackSince('b', period)}) = 0
    order by c.id desc limit 1)`;
};

const coming = statement<{ coming: Coming | null }, { invoiceId: number }>(
  'billing.paymentComing',
  `select ${comingOf(':invoiceId::bigint')} as coming`,
);

/**
 * Whether a payment, such as a debit, is on its way, so that the customer should neither pay a second time nor give up what they have
 * paid for. Nothing is waited for longer than a bank takes, and nothing is heard of a provider that is not ours any more.
 */
export function isComing(
  { config, clock }: Pick<Context, 'config' | 'clock'>,
  coming: Coming | null,
): boolean {
  if (coming === null || coming.driver !== config.payments) return false;
  return clock.now().getTime() - Date.parse(coming.since) < mostDaysOnItsWay * 86_400_000;
}

/** The same of one invoice, whose row is locked where something hangs on it. */
export async function isPaymentComing(ctx: Context, invoiceId: number): Promise<boolean> {
  return isComing(ctx, (await ctx.db.one(coming, { invoiceId })).coming);
}

const comingFromMethod = statement<{ coming: Coming }, { invoiceId: number; methodId: number }>(
  'billing.paymentComingFromMethod',
  `select jsonb_build_object('driver', c.driver, 'since', coalesce(c.pending_at, c.created_at)) as coming from charges c
   where c.invoice_id = :invoiceId and c.method_id = :methodId and c.state = 'pending' order by c.id desc limit 1`,
);

/**
 * The same of what one saved method was asked for, also after a debit of it came back: who need not wait for the next one may pay in
 * another way, but of the same account it would be taken twice.
 */
export async function isMethodsPaymentComing(
  ctx: Context,
  invoiceId: number,
  methodId: number,
): Promise<boolean> {
  return isComing(ctx, (await ctx.db.maybe(comingFromMethod, { invoiceId, methodId }))?.coming ?? null);
}

/** Why nothing else may be asked for while an invoice is open, and what to do: nobody cancels one whose payment is on its way. */
export async function reasonOfOpen(ctx: Context, invoiceId: number, what: string, why = ''): Promise<string> {
  if (await isPaymentComing(ctx, invoiceId))
    return `A payment for invoice ${invoiceId} ${what} is on its way; wait for it, or pay it from credit${why}`;
  return `Invoice ${invoiceId} ${what} is open; pay or cancel it first${why}`;
}

/**
 * SQL that says whether money for an invoice is on its way: our payment provider was asked for it, and has not answered; a page
 * that was only opened is no money. It counts once. When it came back in the `period`, what is sent after it does not count, or
 * a debit that fails again and again would pay for a service for ever; the same holds of a saved method that declines,
 * unless we are the ones who ask again, for a month at most. Of a provider that is not ours any more nothing will be heard. Takes
 * `:driver` and `:now`.
 */
export const isOnItsWay = (invoice: string, period: Period) => {
  const cameBack = cameBackSince('h', period);
  const longAgo = `:now::timestamptz - make_interval(days => ${mostDaysOnItsWay})`;
  // A process of the version before, beside this one, does not say since when.
  const pendingAt = 'coalesce(h.pending_at, h.created_at)';
  const count = (what: string) => `count(*) filter (where ${what})`;
  const countHere = (what: string) => count(`h.invoice_id = ${invoice} and ${what}`);
  return `(select ${countHere(`h.driver = :driver and h.state = 'pending'
        and ${pendingAt} > ${longAgo}`)} > 0
      and ${count(debitCameBackSince('h', period))} = 0
    or ${countHere(`h.driver = :driver and h.state = 'open' and h.means = 'saved' and h.attempt is not null`)} > 0
      and ${count(`h.attempt is not null and h.created_at <= ${longAgo}`)} = 0
    or ${countHere(`h.driver = :driver and h.state = 'open' and h.means = 'saved'`)} > 0 and ${count(cameBack)} = 0
   from charges h where h.invoice_id = ${eachOf(invoice, period)})`;
};
