import { cardNamed, cardOf, ibans, type TestCard } from './cards.ts';
import { Objects, type StripeObject } from './objects.ts';
import { invalid, missing, Refusal } from './refusal.ts';

/** Smallest amounts that Stripe takes, in the currency's minor unit. */
const least: Readonly<Record<string, number>> = { eur: 50, usd: 50, gbp: 30, jpy: 50, huf: 17_500 };
const disputeFee = 2_000;

/** How somebody pays on a page: a card's number, or an account's. */
export interface Means {
  number: string;
  /** Whether they pass their bank's check when it asks. */
  authenticates: boolean;
}

/**
 * An account at Stripe: what it has, and the rules by which that changes. Everything that happens is told to `tell`,
 * as the events of Stripe's reference.
 */
export class Account {
  readonly objects = new Objects();
  readonly #tell: (type: string, object: StripeObject) => void;

  constructor(tell: (type: string, object: StripeObject) => void) {
    this.#tell = tell;
  }

  require(id: string, object: string): StripeObject {
    const found = this.objects.find(id, object);
    if (found === null) throw missing(object, id);
    return found;
  }

  /** Whom something is to be made for. One that was deleted is read, and used for nothing. */
  #requireCustomer(id: string): void {
    const customer = this.objects.find(id, 'customer');
    if (customer !== null && customer.deleted !== true) return;
    const message = `No such customer: '${id}'`;
    throw invalid(message, { code: 'resource_missing', param: 'customer' });
  }

  makeCustomer(fields: object): StripeObject {
    const customer = this.objects.make('cus', 'customer', { email: null, name: null, ...fields });
    this.#tell('customer.created', customer);
    return customer;
  }

  // Methods

  #makeMethod(means: string, customer: string | null): StripeObject {
    const card = cardNamed(means) ?? cardOf(means);
    const hidden = { number: card?.number ?? means, authenticated: false };
    if (card !== null) {
      const shown = { brand: card.brand, display_brand: card.brand, last4: card.number.slice(-4) };
      const fields = { ...shown, exp_month: 12, exp_year: 2034, funding: 'credit', country: 'NL' };
      return this.objects.make('pm', 'payment_method', { type: 'card', card: fields, customer }, hidden);
    }
    if (!Object.values(ibans).some((iban) => iban === means)) throw invalid('Your card number is incorrect.');
    const sepa = { bank_code: '19043', country: 'AT', last4: means.slice(-4) };
    return this.objects.make(
      'pm',
      'payment_method',
      { type: 'sepa_debit', sepa_debit: sepa, customer },
      hidden,
    );
  }

  attach(id: string, customer: string): StripeObject {
    this.#requireCustomer(customer);
    const method = cardNamed(id) ? this.#makeMethod(id, null) : this.require(id, 'payment_method');
    if (method.customer !== null) throw invalid('The payment method is already attached to a customer.');
    method.customer = customer;
    this.#tell('payment_method.attached', method);
    return method;
  }

  detach(id: string): StripeObject {
    const method = this.require(id, 'payment_method');
    if (method.customer === null)
      throw invalid(
        'The payment method you provided is not attached to a customer so detachment is impossible.',
      );
    method.customer = null;
    this.#tell('payment_method.detached', method);
    return method;
  }

  /** What is saved of them goes along; afterwards the customer is read as deleted. */
  deleteCustomer(id: string): object {
    const customer = this.require(id, 'customer');
    for (const method of this.objects.every('payment_method'))
      if (method.customer === id) this.detach(method.id);
    Object.assign(customer, { deleted: true });
    return { id, object: 'customer', deleted: true };
  }

  /** A bank sends its customer a new card: the saved method goes on with it. */
  renewCard(id: string, fields: object): void {
    const method = this.require(id, 'payment_method');
    Object.assign(method.card, fields);
    this.#tell('payment_method.automatically_updated', method);
  }

  // Payments

  makeIntent(fields: {
    amount: number;
    currency: string;
    customer: string | null;
    payment_method: string | null;
    metadata: object;
    description: string | null;
  }): StripeObject {
    const { amount, currency, customer, payment_method: methodId } = fields;
    if (!Number.isSafeInteger(amount) || amount < 1)
      throw invalid('This value must be greater than or equal to 1.');
    requireLeast(amount, currency);
    if (customer !== null) this.#requireCustomer(customer);
    if (methodId !== null && this.require(methodId, 'payment_method').customer !== customer)
      throw invalid('The provided PaymentMethod does not belong to this customer.');
    const status = methodId === null ? 'requires_payment_method' : 'requires_confirmation';
    const intent = this.objects.make('pi', 'payment_intent', {
      ...fields,
      status,
      ...{ amount_received: 0, latest_charge: null, last_payment_error: null, next_action: null },
    });
    this.#tell('payment_intent.created', intent);
    return intent;
  }

  /** Takes a payment's money; `402` when that is declined, with the payment in its error. */
  confirm(id: string, means: { offSession: boolean; authenticates: boolean }): StripeObject {
    const { offSession } = means;
    const intent = this.require(id, 'payment_intent');
    if (
      !['requires_confirmation', 'requires_payment_method'].includes(intent.status) ||
      !intent.payment_method
    ) {
      const message = `This PaymentIntent's status is ${intent.status}, so it cannot be confirmed.`;
      throw invalid(message, {
        code: 'payment_intent_unexpected_state',
        payment_intent: this.objects.show(intent),
      });
    }
    const method = this.require(intent.payment_method, 'payment_method');
    if (offSession && method.customer === null)
      throw invalid('The provided PaymentMethod was detached from its customer and cannot be used again.');
    const card = cardOf(method.number);
    if (card === null) return this.#debit(intent, method);
    const decline = this.#declineOf(card, method, means);
    return decline === null ? this.#take(intent, method) : this.#decline(intent, method, decline);
  }

  #declineOf(
    card: TestCard,
    method: StripeObject,
    { offSession, authenticates }: { offSession: boolean; authenticates: boolean },
  ): string | null {
    const asks = card.authenticates === 'always' || (card.authenticates === 'once' && !method.authenticated);
    if (asks && (offSession || !authenticates)) return 'authentication_required';
    if (asks) method.authenticated = true;
    return card.declines ?? card.declinesLater ?? null;
  }

  #decline(intent: StripeObject, method: StripeObject, code: string): never {
    const isAuthentication = code === 'authentication_required';
    const error = {
      type: 'card_error',
      code: isAuthentication ? code : 'card_declined',
      decline_code: code,
      message: isAuthentication
        ? 'Your card was declined. This transaction requires authentication.'
        : 'Your card was declined.',
      payment_method: this.objects.show(method),
    };
    const charge = this.#charge(intent, method, { status: 'failed', paid: false, failure_code: code });
    intent.status = 'requires_payment_method';
    intent.payment_method = null;
    intent.last_payment_error = error;
    this.#tell('charge.failed', charge);
    this.#tell('payment_intent.payment_failed', intent);
    throw new Refusal(402, { ...error, charge: charge.id, payment_intent: this.objects.show(intent) });
  }

  #debit(intent: StripeObject, method: StripeObject): StripeObject {
    this.#charge(intent, method, { status: 'pending', paid: false });
    intent.status = 'processing';
    this.#tell('payment_intent.processing', intent);
    return intent;
  }

  /** Days later: what a direct debit came to. */
  settleDebit(id: string): void {
    const intent = this.require(id, 'payment_intent');
    const method = this.require(intent.payment_method, 'payment_method');
    const session = this.objects.every('checkout.session').find((each) => each.payment_intent === id);
    if (method.number === ibans.arrives) {
      this.#take(intent, method);
      if (session) session.payment_status = 'paid';
      if (session) this.#tell('checkout.session.async_payment_succeeded', session);
      return;
    }
    try {
      this.#decline(intent, method, 'insufficient_funds');
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
    }
    if (session) this.#tell('checkout.session.async_payment_failed', session);
  }

  #charge(intent: StripeObject, method: StripeObject, fields: object): StripeObject {
    const { amount, currency, customer, id, metadata } = intent;
    const before = this.objects.find(intent.latest_charge ?? '', 'charge');
    const nothing = { amount_refunded: 0, refunded: false, disputed: false, balance_transaction: null };
    const charge =
      before?.status === 'pending'
        ? before
        : this.objects.make('ch', 'charge', { amount, currency, customer, metadata, ...nothing });
    const details = { type: method.type, [method.type]: { ...method[method.type] } };
    Object.assign(charge, {
      payment_intent: id,
      payment_method: method.id,
      payment_method_details: details,
      ...fields,
    });
    intent.latest_charge = charge.id;
    return charge;
  }

  #take(intent: StripeObject, method: StripeObject): StripeObject {
    const charge = this.#charge(intent, method, { status: 'succeeded', paid: true });
    const fee = Math.round(intent.amount * 0.015) + 25;
    charge.balance_transaction = this.#move('charge', charge.id, intent.amount, intent.currency, fee).id;
    intent.status = 'succeeded';
    intent.amount_received = intent.amount;
    this.#tell('charge.succeeded', charge);
    this.#tell('payment_intent.succeeded', intent);
    if (cardOf(method.number)?.disputes) this.dispute(intent.id);
    return intent;
  }

  #move(type: string, source: string, amount: number, currency: string, fee = 0): StripeObject {
    const net = amount - fee;
    return this.objects.make('txn', 'balance_transaction', { type, source, amount, currency, fee, net });
  }

  /** What the account has, after fees, in a currency. */
  balance(currency: string): number {
    const moves = this.objects.every('balance_transaction').filter((move) => move.currency === currency);
    return moves.reduce((sum, { net }) => sum + net, 0);
  }

  // Refunds and disputes

  refund(intentId: string, asked: number | null, metadata: object): StripeObject {
    const intent = this.require(intentId, 'payment_intent');
    const charge = this.objects.find(intent.latest_charge ?? '', 'charge');
    if (charge?.paid !== true)
      throw invalid(`PaymentIntent ${intentId} does not have a successful charge to refund.`);
    if (charge.disputed)
      throw invalid(`Charge ${charge.id} has been charged back.`, { code: 'charge_disputed' });
    const left = charge.amount - charge.amount_refunded;
    if (left === 0)
      throw invalid(`Charge ${charge.id} has already been refunded.`, { code: 'charge_already_refunded' });
    const amount = asked ?? left;
    if (amount < 1 || amount > left)
      throw invalid(`Refund amount (${amount}) is greater than unrefunded amount on charge (${left})`);
    const { currency } = charge;
    const refund = this.objects.make('re', 'refund', {
      ...{ amount, currency, metadata, charge: charge.id, payment_intent: intentId, reason: null },
      status: 'succeeded',
    });
    refund.balance_transaction = this.#move('refund', refund.id, -amount, currency).id;
    charge.amount_refunded += amount;
    charge.refunded = charge.amount_refunded === charge.amount;
    this.#tell('refund.created', refund);
    this.#tell('charge.refunded', charge);
    return refund;
  }

  /** Days later: the bank could not take the money back. */
  failRefund(id: string): void {
    const refund = this.require(id, 'refund');
    const charge = this.require(refund.charge, 'charge');
    refund.status = 'failed';
    refund.failure_reason = 'lost_or_stolen_card';
    charge.amount_refunded -= refund.amount;
    charge.refunded = false;
    this.#move('refund_failure', refund.id, refund.amount, refund.currency);
    this.#tell('refund.failed', refund);
  }

  dispute(
    intentId: string,
    status: 'needs_response' | 'warning_needs_response' = 'needs_response',
  ): StripeObject {
    const intent = this.require(intentId, 'payment_intent');
    const charge = this.require(intent.latest_charge, 'charge');
    const { amount, currency } = charge;
    const dispute = this.objects.make('du', 'dispute', {
      ...{ amount, currency, charge: charge.id, payment_intent: intentId, status, reason: 'fraudulent' },
      evidence_details: { due_by: this.objects.now() + 7 * 86_400, has_evidence: false, submission_count: 0 },
      balance_transactions: [],
    });
    charge.disputed = true;
    this.#tell('charge.dispute.created', dispute);
    if (status !== 'needs_response') return dispute;
    dispute.balance_transactions.push(this.#move('adjustment', dispute.id, -amount, currency, disputeFee));
    this.#tell('charge.dispute.funds_withdrawn', dispute);
    return dispute;
  }

  closeDispute(id: string, status: 'won' | 'lost' | 'warning_closed'): void {
    const dispute = this.require(id, 'dispute');
    if (status === 'lost' && dispute.status === 'won')
      dispute.balance_transactions.push(this.#move('adjustment', id, -dispute.amount, dispute.currency));
    dispute.status = status;
    if (status === 'won') {
      dispute.balance_transactions.push(this.#move('adjustment', id, dispute.amount, dispute.currency));
      this.#tell('charge.dispute.funds_reinstated', dispute);
    }
    this.#tell('charge.dispute.closed', dispute);
  }

  // Payouts

  /** Sends money to the bank, which has it tomorrow. One that is sent at once costs a fee. */
  payOut(amount: number, currency: string, fee = 0): StripeObject {
    const payout = this.objects.make('po', 'payout', {
      ...{
        amount,
        currency,
        status: 'in_transit',
        automatic: fee === 0,
        method: fee === 0 ? 'standard' : 'instant',
      },
      ...{ failure_code: null, failure_message: null, failure_balance_transaction: null },
      arrival_date: Math.ceil(this.objects.now() / 86_400) * 86_400,
    });
    // The fee is taken from what is left, and not from what arrives.
    payout.balance_transaction = this.#move('payout', payout.id, -amount, currency, fee).id;
    this.#tell('payout.created', payout);
    return payout;
  }

  /** The day has come. */
  arrivePayout(id: string): void {
    const payout = this.require(id, 'payout');
    payout.status = 'paid';
    this.#tell('payout.paid', payout);
  }

  /** The bank does not take it, or gives it back days after it seemed to have arrived. */
  failPayout(id: string): void {
    const payout = this.require(id, 'payout');
    const failure = { failure_code: 'account_closed', failure_message: 'The bank account has been closed.' };
    Object.assign(payout, { status: 'failed', ...failure });
    payout.failure_balance_transaction = this.#move('payout_failure', id, payout.amount, payout.currency).id;
    this.#tell('payout.failed', payout);
  }

  // Pages

  openSession(fields: {
    mode: string;
    customer: string | null;
    currency: string | null;
    amount: number | null;
    intentFields: object;
    [field: string]: unknown;
  }): StripeObject {
    const { intentFields, amount, ...shown } = fields;
    if (fields.customer !== null) this.#requireCustomer(fields.customer);
    if (fields.mode === 'payment') requireLeast(amount ?? 0, fields.currency ?? 'eur');
    const session = this.objects.make(
      'cs_test',
      'checkout.session',
      {
        ...shown,
        ...{
          amount_total: amount,
          status: 'open',
          payment_status: fields.mode === 'setup' ? 'no_payment_required' : 'unpaid',
        },
        ...{ payment_intent: null, setup_intent: null, expires_at: this.objects.now() + 86_400 },
      },
      { intentFields },
    );
    if (fields.mode === 'setup') {
      const setup = { customer: fields.customer, status: 'requires_payment_method', payment_method: null };
      session.setup_intent = this.objects.make('seti', 'setup_intent', setup).id;
    }
    return session;
  }

  expireSession(id: string): StripeObject {
    const session = this.require(id, 'checkout.session');
    if (session.status !== 'open')
      throw invalid('Only Checkout Sessions with a status in ["open"] can be expired.');
    Object.assign(session, { status: 'expired', url: null });
    this.#tell('checkout.session.expired', session);
    return session;
  }

  /** The customer fills in the page. Throws the {@link Refusal} that the page shows them. */
  finishSession(id: string, means: Means): StripeObject {
    const session = this.require(id, 'checkout.session');
    if (session.status !== 'open') throw invalid('You’re all done here.');
    if (session.mode === 'setup') this.#save(session, means);
    else this.#pay(session, means);
    Object.assign(session, { status: 'complete', url: null });
    this.#tell('checkout.session.completed', session);
    return session;
  }

  #save(session: StripeObject, { number, authenticates }: Means): void {
    const card = cardOf(number);
    if (card?.declines || (card?.authenticates && !authenticates))
      throw new Refusal(402, {
        type: 'card_error',
        code: 'card_declined',
        message: 'Your card was declined.',
      });
    const method = this.#makeMethod(number, session.customer);
    if (card?.authenticates) method.authenticated = true;
    const setup = this.require(session.setup_intent, 'setup_intent');
    Object.assign(setup, { status: 'succeeded', payment_method: method.id });
    this.#tell('payment_method.attached', method);
    this.#tell('setup_intent.succeeded', setup);
  }

  #pay(session: StripeObject, { number, authenticates }: Means): void {
    const method = this.#makeMethod(number, null);
    const before = session.payment_intent && this.require(session.payment_intent, 'payment_intent');
    const intent =
      before ||
      this.objects.make('pi', 'payment_intent', {
        ...{ amount: session.amount_total, currency: session.currency, customer: session.customer },
        ...{ metadata: {}, description: null, ...session.intentFields },
        ...{ amount_received: 0, latest_charge: null, last_payment_error: null, next_action: null },
      });
    session.payment_intent = intent.id;
    Object.assign(intent, { status: 'requires_confirmation', payment_method: method.id });
    this.confirm(intent.id, { offSession: false, authenticates });
    session.payment_status = intent.status === 'succeeded' ? 'paid' : 'unpaid';
  }
}

function requireLeast(amount: number, currency: string): void {
  const most = 99_999_999;
  if (amount > most)
    throw invalid('Amount must be no more than 999,999.99.', { code: 'amount_too_large', param: 'amount' });
  if (amount >= (least[currency] ?? 1)) return;
  throw invalid(`Amount must be at least ${(least[currency] ?? 1) / 100} ${currency}`, {
    code: 'amount_too_small',
    param: 'amount',
  });
}
