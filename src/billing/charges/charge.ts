import type { PaymentProvider } from '../../config.ts';
import { forMany, formatMoney, newId, statement, type TxContext } from '../../platform/index.ts';

/**
 * `open`: nothing came, and something may. `pending`: it is on its way. `paid`: it came. `failed`: it was tried and did not
 * come. `over`: it will not come.
 */
export type ChargeState = 'open' | 'pending' | 'paid' | 'failed' | 'over';

/** Money that a payment provider is asked for. */
export interface Charge {
  id: number;
  organization_id: number;
  invoice_id: number;
  /** The payment provider, which payments of it are called by. */
  driver: PaymentProvider;
  means: 'page' | 'saved';
  method_id: number | null;
  attempt: number | null;
  amount_minor: number;
  currency: string;
  uses_credit: boolean;
  state: ChargeState;
  reference: string | null;
  page_reference: string | null;
  page_url: string | null;
  page_expires_at: Date | null;
  pages: number;
  /** Why it was declined last, for the customer. */
  decline_message: string | null;
  /** It failed because the bank wants its customer there. */
  needs_customer: boolean;
  fee_minor: number;
  fee_currency: string | null;
  /** What of it became credit, and what has gone back. */
  credited_minor: number;
  returned_minor: number;
  created_at: Date;
  /** When it came, or was found not to. */
  finished_at: Date | null;
}

const columns = `id, organization_id, invoice_id, driver, means, method_id, attempt, amount_minor, currency, uses_credit,
  state, reference, page_reference, page_url, page_expires_at, pages, decline_message, needs_customer, fee_minor, fee_currency,
  credited_minor, returned_minor, created_at, finished_at`;

/** A charge as the wire shows it. */
export function viewCharge(
  charge: Pick<Charge, 'id' | 'amount_minor' | 'currency' | 'state' | 'decline_message' | 'needs_customer'>,
) {
  const { id, amount_minor: amountMinor, currency, state, decline_message: decline } = charge;
  const needsCustomer = state === 'failed' && charge.needs_customer;
  return {
    ...{ id, amount: formatMoney(amountMinor, currency), currency, state, decline },
    needs_customer: needsCustomer,
  };
}

export const chargeById = forMany(
  statement<Charge, { id: number }>('billing.chargeById', `select ${columns} from charges where id = :id`),
  { id: 'bigint' },
);
/** By the provider's name for the payment, or else by the id that the payment was made with. */
export const chargeOfPayment = forMany(
  statement<Charge, { driver: string; reference: string; id: number | null }>(
    'billing.chargeOfPayment',
    `select ${columns} from charges where driver = :driver and (reference = :reference or id = :id)
   order by (reference = :reference) desc nulls last limit 1`,
  ),
  { driver: 'text', reference: 'text', id: 'bigint' },
);
/** The page that an invoice's customer was sent to and has not used. */
export const openPageOf = statement<Charge, { invoiceId: number; driver: string; usesCredit: boolean }>(
  'billing.openPageOf',
  `select ${columns} from charges where invoice_id = :invoiceId and driver = :driver and means = 'page'
     and state = 'open' and uses_credit = :usesCredit order by id limit 1`,
);
/**
 * What has not ended (`under_way`; `open_saved`: of it what is asked of a saved method and has no answer), and how many we began by
 * ourselves. Of a provider that is not ours any more we hear nothing, so nothing of it is under way.
 */
export const chargesOf = forMany(
  statement<
    { under_way: number; open_saved: number; attempts: number; open_pages: number },
    { invoiceId: number; driver: string }
  >(
    'billing.chargesOf',
    `select count(*) filter (where driver = :driver and (state = 'pending' or (state = 'open' and means = 'saved')))::int
       as under_way,
     count(*) filter (where driver = :driver and state = 'open' and means = 'saved')::int as open_saved,
     coalesce(max(attempt), 0)::int as attempts,
     count(*) filter (where driver = :driver and state = 'open' and page_reference is not null)::int as open_pages
   from charges where invoice_id = :invoiceId`,
  ),
  { invoiceId: 'bigint', driver: 'text' },
);

type Writable = Pick<
  Charge,
  | 'organization_id'
  | 'invoice_id'
  | 'driver'
  | 'means'
  | 'method_id'
  | 'attempt'
  | 'amount_minor'
  | 'currency'
> &
  Pick<Charge, 'uses_credit' | 'reference'>;

const insert = forMany(
  statement<Charge, { id: number; row: Writable; now: Date }>(
    'billing.insertCharge',
    `insert into charges (id, organization_id, invoice_id, driver, means, method_id, attempt, amount_minor, currency,
     uses_credit, reference, state, created_at)
   select :id, r.organization_id, r.invoice_id, r.driver, r.means, r.method_id, r.attempt, r.amount_minor, r.currency,
     r.uses_credit, r.reference, 'open', :now
   from jsonb_to_record(:row::jsonb) as r(organization_id bigint, invoice_id bigint, driver text, means text,
     method_id bigint, attempt int, amount_minor bigint, currency text, uses_credit boolean, reference text)
   returning ${columns}`,
  ),
  { id: 'bigint', row: 'jsonb', now: 'timestamptz' },
  (given) => `with given as materialized (select * from ${given}),
   written as (
     insert into charges (id, organization_id, invoice_id, driver, means, method_id, attempt, amount_minor, currency,
       uses_credit, reference, state, created_at)
     select g.id, r.organization_id, r.invoice_id, r.driver, r.means, r.method_id, r.attempt, r.amount_minor,
       r.currency, r.uses_credit, r.reference, 'open', g.now
     from given g cross join lateral jsonb_to_record(g.row) as r(organization_id bigint, invoice_id bigint, driver text,
       means text, method_id bigint, attempt int, amount_minor bigint, currency text, uses_credit boolean, reference text)
     returning ${columns})
   select written.*, given.nth_ from given join written on written.id = given.id`,
);

/** Writes a charge down before anybody outside hears of it. */
export function newCharge(tx: TxContext, row: Writable): Promise<Charge> {
  return tx.db.one(insert, { id: newId(), row, now: tx.clock.now() });
}

export const setAmount = forMany(
  statement<never, { id: number; amountMinor: number }>(
    'billing.setChargeAmount',
    `update charges set amount_minor = :amountMinor where id = :id and state = 'open'`,
  ),
  { id: 'bigint', amountMinor: 'bigint' },
  (given) => `update charges set amount_minor = given."amountMinor" from ${given}
   where charges.id = given.id and charges.state = 'open' returning given.nth_`,
);
export const setReference = forMany(
  statement<never, { id: number; reference: string }>(
    'billing.setChargeReference',
    'update charges set reference = :reference where id = :id and reference is null',
  ),
  { id: 'bigint', reference: 'text' },
  (given) => `update charges set reference = given.reference from ${given}
   where charges.id = given.id and charges.reference is null returning given.nth_`,
);
/** `pages`: how many there were before. */
export const setPage = statement<
  never,
  { id: number; pages: number; reference: string; url: string; expiresAt: Date; amountMinor: number }
>(
  'billing.setChargePage',
  `update charges set page_reference = :reference, page_url = :url, page_expires_at = :expiresAt, pages = :pages + 1,
     amount_minor = :amountMinor
   where id = :id and pages = :pages and state = 'open'`,
);
export const setState = forMany(
  statement<never, { id: number; state: 'failed' | 'over'; now: Date }>(
    'billing.setChargeState',
    'update charges set state = :state, finished_at = :now where id = :id',
  ),
  { id: 'bigint', state: 'text', now: 'timestamptz' },
  (given) =>
    `update charges set state = given.state, finished_at = given.now from ${given} where charges.id = given.id`,
);
/** The money is on its way, and has been since it was first said. */
export const setPending = forMany(
  statement<never, { id: number; now: Date }>(
    'billing.setChargePending',
    `update charges set state = 'pending', finished_at = null, pending_at = coalesce(pending_at, :now) where id = :id`,
  ),
  { id: 'bigint', now: 'timestamptz' },
  (given) =>
    `update charges set state = 'pending', finished_at = null, pending_at = coalesce(pending_at, given.now) from ${given}
   where charges.id = given.id`,
);
export const setPaid = forMany(
  statement<never, { id: number; amountMinor: number; now: Date }>(
    'billing.setChargePaid',
    `update charges set state = 'paid', amount_minor = :amountMinor, finished_at = :now where id = :id`,
  ),
  { id: 'bigint', amountMinor: 'bigint', now: 'timestamptz' },
  (
    given,
  ) => `update charges set state = 'paid', amount_minor = given."amountMinor", finished_at = given.now from ${given}
   where charges.id = given.id`,
);
export const addCredited = statement<never, { id: number; amountMinor: number }>(
  'billing.addChargeCredited',
  'update charges set credited_minor = credited_minor + :amountMinor where id = :id',
);
export const addReturned = statement<never, { id: number; amountMinor: number }>(
  'billing.addChargeReturned',
  'update charges set returned_minor = returned_minor + :amountMinor where id = :id',
);
/** A page that is over leads nowhere, and is not asked about again. */
export const forgetPage = statement<never, { reference: string }>(
  'billing.forgetChargePage',
  `update charges set page_reference = null, page_url = null, page_expires_at = null
   where page_reference = :reference and state = 'open'`,
);
export const setDecline = statement<
  never,
  { id: number; code: string; message: string; needsCustomer: boolean }
>(
  'billing.setChargeDecline',
  `update charges set decline_code = :code, decline_message = :message, needs_customer = :needsCustomer where id = :id`,
);
export const setFee = forMany(
  statement<never, { id: number; feeMinor: number; currency: string }>(
    'billing.setChargeFee',
    'update charges set fee_minor = :feeMinor, fee_currency = :currency where id = :id',
  ),
  { id: 'bigint', feeMinor: 'bigint', currency: 'text' },
  (given) => `update charges set fee_minor = given."feeMinor", fee_currency = given.currency from ${given}
   where charges.id = given.id`,
);
