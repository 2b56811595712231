import type Stripe from 'stripe';
import type {
  Decline,
  DisputeTruth,
  Fee,
  MethodTruth,
  PageTruth,
  PaymentState,
  PaymentTruth,
  PayoutTruth,
  RefundTruth,
} from '../contract.ts';
import { currencyOf, fromStripe } from './amounts.ts';

/** How Stripe's objects read in the words of the contract. */

type Ours = 'organization' | 'invoice' | 'charge' | 'refund';

/** Our id, as what we make at Stripe carries it. */
export function idFields(what: Ours, id: number): Record<string, string> {
  return { [`innkeeper_${what}`]: String(id) };
}

function idIn(metadata: Stripe.Metadata | null | undefined, what: Ours): number | null {
  const id = Number(metadata?.[`innkeeper_${what}`]);
  return Number.isSafeInteger(id) && id > 0 ? id : null;
}

function referenceOf(value: string | { id: string } | null | undefined): string | null {
  return typeof value === 'object' ? (value?.id ?? null) : (value ?? null);
}

function expanded<T extends object>(value: string | T | null | undefined): T | null {
  return typeof value === 'object' ? value : null;
}

const pageStates: Readonly<Record<string, PageTruth['state']>> = { complete: 'finished', expired: 'over' };

export function pageTruth(session: Stripe.Checkout.Session): PageTruth {
  const setup = expanded(session.setup_intent);
  const method = setup?.status === 'succeeded' ? expanded(setup.payment_method) : null;
  return {
    reference: session.id,
    id: idIn(session.metadata, 'charge'),
    state: pageStates[session.status ?? 'open'] ?? 'open',
    payment: referenceOf(session.payment_intent),
    method: method && methodTruth(method),
  };
}

const isGone = (customer: Stripe.PaymentMethod['customer']) =>
  typeof customer === 'object' &&
  customer !== null &&
  'deleted' in customer &&
  (customer.deleted as unknown) === true;

export function methodTruth(method: Stripe.PaymentMethod): MethodTruth {
  const { card, sepa_debit: sepa } = method;
  return {
    reference: method.id,
    // Where its customer is looked at with it, one that was deleted is nobody.
    customer: isGone(method.customer) ? null : referenceOf(method.customer),
    type: method.type,
    brand: card?.display_brand ?? card?.brand ?? sepa?.bank_code ?? null,
    last4: card?.last4 ?? sepa?.last4 ?? null,
    expiresMonth: card?.exp_month ?? null,
    expiresYear: card?.exp_year ?? null,
  };
}

export function paymentTruth(
  intent: Stripe.PaymentIntent,
  refunds: readonly Stripe.Refund[],
  disputes: readonly Stripe.Dispute[],
): PaymentTruth {
  const currency = currencyOf(intent.currency);
  const state = stateOf(intent);
  const transaction = expanded(expanded(intent.latest_charge)?.balance_transaction);
  return {
    reference: intent.id,
    id: idIn(intent.metadata, 'charge'),
    customer: referenceOf(intent.customer),
    organizationId: idIn(intent.metadata, 'organization'),
    invoiceId: idIn(intent.metadata, 'invoice'),
    state,
    amountMinor: fromStripe(state === 'paid' ? intent.amount_received : intent.amount, currency),
    currency,
    fee: transaction && feeOf([transaction]),
    decline: declineOf(intent.last_payment_error),
    refunds: refunds.map(refundTruth),
    disputes: disputes.map(disputeTruth),
    paidFrom: paidFromOf(expanded(intent.latest_charge)?.payment_method_details),
  };
}

/** Cards and direct debits tell their country. Of others, such as wallets of banks, it is not asked. */
function paidFromOf(
  details: Stripe.Charge.PaymentMethodDetails | null | undefined,
): PaymentTruth['paidFrom'] {
  const card = details?.card?.country;
  if (card) return { kind: 'card', country: card };
  const bank = details?.sepa_debit?.country;
  return bank ? { kind: 'bank', country: bank } : null;
}

function stateOf({ status, last_payment_error: error }: Stripe.PaymentIntent): PaymentState {
  if (status === 'succeeded') return 'paid';
  if (status === 'processing' || status === 'requires_capture') return 'pending';
  if (status === 'canceled') return 'over';
  return status === 'requires_payment_method' && error !== null ? 'failed' : 'open';
}

function feeOf(transactions: readonly Stripe.BalanceTransaction[]): Fee | null {
  const [first] = transactions;
  if (first === undefined) return null;
  const currency = currencyOf(first.currency);
  return {
    minor: fromStripe(
      transactions.reduce((sum, { fee }) => sum + fee, 0),
      currency,
    ),
    currency,
  };
}

/** Banks that say no for good. Source: https://docs.stripe.com/declines/codes */
const forGood = [
  ...['lost_card', 'stolen_card', 'expired_card', 'pickup_card', 'fraudulent', 'restricted_card'],
  ...[
    'invalid_account',
    'incorrect_number',
    'card_not_supported',
    'currency_not_supported',
    'new_account_information_available',
  ],
  ...['revocation_of_all_authorizations', 'revocation_of_authorization', 'stop_payment_order'],
];

function declineOf(error: Stripe.PaymentIntent.LastPaymentError | null): Decline | null {
  if (error === null) return null;
  const code = error.decline_code ?? error.code ?? error.type;
  const needsCustomer = code === 'authentication_required' || error.code === 'authentication_required';
  const mayRetry = !needsCustomer && error.advice_code !== 'do_not_try_again' && !forGood.includes(code);
  return { code, message: error.message ?? 'The payment was declined', needsCustomer, mayRetry };
}

export function refundTruth(refund: Stripe.Refund): RefundTruth {
  const state =
    refund.status === 'succeeded'
      ? 'done'
      : refund.status === 'failed' || refund.status === 'canceled'
        ? 'failed'
        : 'pending';
  return {
    reference: refund.id,
    id: idIn(refund.metadata, 'refund'),
    amountMinor: fromStripe(refund.amount, currencyOf(refund.currency)),
    state,
  };
}

const disputeStates: Readonly<Record<string, DisputeTruth['state']>> = {
  warning_needs_response: 'asked',
  warning_under_review: 'asked',
  // The bank asked, was content, and took nothing.
  warning_closed: 'won',
  prevented: 'won',
  won: 'won',
  lost: 'lost',
};

function disputeTruth(dispute: Stripe.Dispute): DisputeTruth {
  const currency = currencyOf(dispute.currency);
  const answerBy = dispute.evidence_details.due_by;
  return {
    reference: dispute.id,
    amountMinor: fromStripe(dispute.amount, currency),
    currency,
    state: disputeStates[dispute.status] ?? 'open',
    reason: dispute.reason,
    answerBy: answerBy ? new Date(answerBy * 1_000).toISOString() : null,
    fee: feeOf(dispute.balance_transactions),
  };
}

const payoutStates: Readonly<Record<string, PayoutTruth['state']>> = {
  paid: 'paid',
  failed: 'failed',
  canceled: 'over',
};

export function payoutTruth(payout: Stripe.Payout): PayoutTruth {
  const currency = currencyOf(payout.currency);
  const sent = expanded(payout.balance_transaction);
  const back = expanded(payout.failure_balance_transaction);
  return {
    reference: payout.id,
    state: payoutStates[payout.status] ?? 'pending',
    amountMinor: fromStripe(payout.amount, currency),
    currency,
    fee: feeOf([sent, back].filter((each) => each !== null)),
    arrivesOn: new Date(payout.arrival_date * 1_000).toISOString().slice(0, 10),
    failure: payout.failure_message ?? payout.failure_code ?? null,
  };
}
