/**
 * What the product asks of a payment provider. The customer goes to the provider's own pages, so no card number is ever
 * in our machines. Rules every driver keeps:
 * - Every call can be repeated. What makes something at the provider takes a `key` of ours: the same key makes one thing,
 *   however often and however late it is asked for, also when an answer was lost on its way.
 * - A charge has two halves for that: `prepareCharge` moves no money, and `confirmCharge` of what has been paid already
 *   answers that it has.
 * - A driver keeps no truth of its own. An event says where to look; {@link Payments.look} says how it stands.
 * - Amounts are integers in the currency's minor unit (ISO 4217), whatever the provider counts in.
 * - A decline is an answer and no failure. Failures are `PaymentError`s; `permanent` says whether trying again can help.
 */
export interface Payments {
  /** Which engine this is: `none`, `stripe`. */
  readonly kind: string;
  /** Whether it moves no real money: what it knows of customers by now is nobody's card. */
  readonly isTest: boolean;
  /** What it can; conformance holds it to this. */
  readonly capabilities: readonly PaymentsCapability[];
  /** The least that it takes in one payment, in the currency's minor unit; 1 where it names none. */
  leastMinor(currency: string): number;
  /** The provider's name for a customer of ours. */
  openCustomer(customer: NewCustomer): Promise<string>;
  /** A page on which the customer pays once. `customer_unknown`. */
  openPaymentPage(page: NewPaymentPage): Promise<Page>;
  /** A page on which the customer saves a method, for charges while they are away. `customer_unknown`. */
  openSavingPage(page: NewPage): Promise<Page>;
  /**
   * Whether our account has that customer, or had it until it was deleted there. If not, the key is another account's or of another
   * mode, and that something is not found says nothing of what we have.
   */
  knowsCustomer(reference: string): Promise<boolean>;
  /** Whether that customer was made known in test mode, by whom our account has and by what the provider says of others; null when it says nothing. */
  isCustomerOfTests(reference: string): Promise<boolean | null>;
  /** Nobody can pay on the page any more; one that is over already stays as it is. False when it is not in our account. */
  closePage(reference: string): Promise<boolean>;
  /** Makes a payment that waits for {@link confirmCharge}; gives its reference. `method_refused`. */
  prepareCharge(charge: NewCharge): Promise<string>;
  /** Takes the money of a prepared payment without the customer there, and says how it went. `method_refused`. */
  confirmCharge(reference: string): Promise<PaymentTruth>;
  /** Gives money of a payment back to where it came from. */
  refund(refund: NewRefund): Promise<RefundTruth>;
  /**
   * The provider forgets a saved method. One that it does not know is forgotten where it knows `customer`, who is of the account
   * that the method was saved in; `provider_refused` elsewhere, where it may still be kept.
   */
  forgetMethod(reference: string, customer: string): Promise<void>;
  /**
   * The provider forgets a customer with all that is saved of them; what they paid stays. `provider_refused` where our account never
   * had them, so that they may be kept in another.
   */
  forgetCustomer(reference: string): Promise<void>;
  /**
   * What a message to us says, if the provider signed it and a moment ago. Touches nothing outside.
   * `signature_invalid`, `signature_stale`.
   */
  readEvent(body: Buffer, headers: MessageHeaders): ProviderEvent;
  /** How something stands now; null when it is not in our account. */
  look(about: About): Promise<Truth | null>;
  /** What happened since a moment of the provider's time, in any order, some at a time. */
  eventsSince(since: Date, after: string | null): Promise<EventPage>;
  /** Lets go of connections. */
  close(): Promise<void>;
}

/**
 * `pages`: customers pay and save methods on its pages. `off_session`: it charges saved methods while they are away.
 * `refunds`: it gives money back to where it came from.
 */
export type PaymentsCapability = 'pages' | 'off_session' | 'refunds';

export interface NewCustomer {
  key: string;
  /** The organization, for whoever looks at the provider's dashboard. */
  organizationId: number;
  name: string;
  email: string | null;
}

export interface NewPage {
  key: string;
  /** The customer's reference. */
  customer: string;
  currency: string;
  /** Our own id, which comes back with what is looked at. */
  id: number;
  /** Where the customer comes back to, having finished or not. What they tell us there is believed by nobody. */
  returnUrl: string;
  cancelUrl: string;
}

export interface NewPaymentPage extends NewPage, PaidFor {
  amountMinor: number;
  /** What the customer reads: `Invoice 2026-000123`. */
  description: string;
}

/** What a payment is for. It comes back with what is looked at, also where our own rows are gone. */
export interface PaidFor {
  organizationId: number;
  invoiceId: number;
}

export interface Page {
  reference: string;
  /** Where to send the customer. */
  url: string;
  expiresAt: Date;
}

export interface NewCharge extends PaidFor {
  key: string;
  customer: string;
  /** The saved method's reference. */
  method: string;
  id: number;
  amountMinor: number;
  currency: string;
  description: string;
}

export interface NewRefund {
  key: string;
  payment: string;
  id: number;
  amountMinor: number;
  currency: string;
}

export type MessageHeaders = Readonly<Record<string, string | string[] | undefined>>;

/** Where to look. A dispute, a refund or a fee is looked at with its payment. */
export interface About {
  kind: 'page' | 'payment' | 'method' | 'payout';
  reference: string;
}

/** Something that happened at the provider. */
export interface ProviderEvent {
  /** Unique; the same however often it is sent. */
  reference: string;
  /** As the provider calls it, for staff. */
  type: string;
  /** Null when it is none of ours: of a kind that we do not use, of another account, of another mode. */
  about: About | null;
  /** By the provider's clock. */
  madeAt: Date;
}

export interface EventPage {
  events: ProviderEvent[];
  /** What to ask for next; null at the end. */
  after: string | null;
}

export type Truth =
  | ({ kind: 'page' } & PageTruth)
  | ({ kind: 'payment' } & PaymentTruth)
  | ({ kind: 'method' } & MethodTruth)
  | ({ kind: 'payout' } & PayoutTruth);

export interface PageTruth {
  reference: string;
  id: number | null;
  /** `over`: nobody can use it any more. */
  state: 'open' | 'finished' | 'over';
  /** Reference of the payment that was begun on it. */
  payment: string | null;
  /** The method that was saved on it. */
  method: MethodTruth | null;
}

/**
 * `open`: nothing was taken, and nothing is on its way. `pending`: on its way, which takes a direct debit days.
 * `paid`: the money is ours at the provider. `failed`: was tried and was not taken. `over`: never will be.
 */
export type PaymentState = 'open' | 'pending' | 'paid' | 'failed' | 'over';

export interface PaymentTruth {
  reference: string;
  /** Our own id, as it was made with; null when somebody else made it. */
  id: number | null;
  /** Who paid, by the provider's reference; null when nobody it knows. */
  customer: string | null;
  /** What it was made with; null when somebody else made it. */
  organizationId: number | null;
  invoiceId: number | null;
  state: PaymentState;
  amountMinor: number;
  currency: string;
  /** What the provider kept of it; null while it does not say. */
  fee: Fee | null;
  /** Why it failed last. */
  decline: Decline | null;
  refunds: RefundTruth[];
  disputes: DisputeTruth[];
  /** Where the card or account is that was used, as far as the provider tells: evidence of where its owner is. */
  paidFrom: { kind: 'card' | 'bank'; country: string } | null;
}

export interface Fee {
  minor: number;
  /** That of the provider's account, which may be another than the payment's. */
  currency: string;
}

export interface Decline {
  /** The provider's word, for staff: `insufficient_funds`. */
  code: string;
  /** For the customer. */
  message: string;
  /** The bank wants the customer there, who has to pay on a page. */
  needsCustomer: boolean;
  /** Whether the same method may be asked again some days later. */
  mayRetry: boolean;
}

export interface RefundTruth {
  reference: string;
  /** Our own id; null when somebody gave it back at the provider's. */
  id: number | null;
  amountMinor: number;
  /** `failed`: it did not arrive, and the money is at the provider's again. */
  state: 'pending' | 'done' | 'failed';
}

export interface DisputeTruth {
  reference: string;
  amountMinor: number;
  currency: string;
  /** `asked`: the bank only asks, and took nothing. `open`: it took the money until it is decided. */
  state: 'asked' | 'open' | 'won' | 'lost';
  /** The provider's word: `fraudulent`. */
  reason: string;
  /** Until when we may answer, in ISO 8601: truths are kept as JSON. */
  answerBy: string | null;
  /** What it cost us by now, whoever wins. */
  fee: Fee | null;
}

/** Money that the provider sent to our bank. */
export interface PayoutTruth {
  reference: string;
  /** `paid`: it has arrived. `failed`: the bank did not take it, also after it seemed to. `over`: it was called off. */
  state: 'pending' | 'paid' | 'failed' | 'over';
  /** Negative when the provider took from our bank what we owed it. */
  amountMinor: number;
  currency: string;
  /** What the provider kept for sending it; null while it does not say. */
  fee: Fee | null;
  /** When the bank has it, `YYYY-MM-DD`. */
  arrivesOn: string;
  /** Why it failed, for staff. */
  failure: string | null;
}

export interface MethodTruth {
  reference: string;
  /** Null when it belongs to nobody any more, also because its customer was deleted. */
  customer: string | null;
  /** `card`, `sepa_debit`, whatever the provider's account offers. */
  type: string;
  /** What people know it by: `visa`, a bank. */
  brand: string | null;
  last4: string | null;
  expiresMonth: number | null;
  expiresYear: number | null;
}

export type PaymentErrorCode =
  /** There is no payment provider. */
  | 'provider_missing'
  /** What is asked cannot be done, such as an amount that is too small; the message says why. */
  | 'payment_invalid'
  /** The saved method cannot be charged any more: it is gone, its mandate is, or the customer whose it was. */
  | 'method_refused'
  /** The provider has no such customer any more. */
  | 'customer_unknown'
  /** The provider does not do it: for good (a key that is wrong), or for now (too many requests). */
  | 'provider_refused'
  /** The provider cannot be reached, or what answers is none. Whether it did the work is not known. */
  | 'provider_unreachable'
  /** The engine has no such ability; see `capabilities`. */
  | 'not_supported'
  | 'signature_invalid'
  | 'signature_stale';

/** A failed call. `message` is for staff and logs and never holds a key. */
export class PaymentError extends Error {
  readonly code: PaymentErrorCode;
  /** True when repeating the call cannot help. */
  readonly permanent: boolean;
  constructor(
    code: PaymentErrorCode,
    message: string,
    options: { permanent?: boolean; cause?: unknown } = {},
  ) {
    super(message, { cause: options.cause });
    this.code = code;
    this.permanent = options.permanent ?? false;
  }
}
