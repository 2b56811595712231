import { Type } from 'typebox';
import { paymentProviders } from '../config.ts';
import { OrganizationName } from '../organizations/index.ts';
import {
  Choice,
  CurrencyCode,
  Day,
  Id,
  ListQuery,
  listOf,
  MoneyText,
  meaning,
  Nullable,
  named,
  PossibleActions,
  Search,
  SortBy,
  Strict,
  Timestamp,
} from '../platform/http/index.ts';
import { invoiceKinds, paymentMethods } from './invoices/kind.ts';
import { invoiceActions, invoiceStatuses, refusalCodes } from './invoices/states.ts';
import { wayCodes } from './payments/ways.ts';
import { InvoiceTaxFacts, Treatment } from './tax/schema.ts';

const Currency = Type.String({ examples: ['EUR'] });
const InvoiceStatus = named(
  'InvoiceStatus',
  Choice(invoiceStatuses),
  'An invoice is `unpaid` until it is paid in full; `amount_due` says what is missing. Orders, upgrades and purchases of credit ' +
    'that are not paid in time are `cancelled`; others stay open',
);

const Possible = PossibleActions(
  { each: 'PossibleInvoiceAction', all: 'PossibleInvoiceActions' },
  invoiceActions,
  refusalCodes,
);

const Charge = named(
  'Charge',
  Type.Object({
    id: Id,
    amount: meaning('What the payment provider is asked for', MoneyText),
    currency: Currency,
    state: Choice(['open', 'pending', 'paid', 'failed', 'over'], {
      description:
        '`open`: nothing has come yet. `pending`: on its way, which takes a direct debit days. `paid`: it came. `failed`: it ' +
        'was declined. `over`: it will not come',
    }),
    decline: Nullable(
      Type.String({ description: 'Why it was declined last', examples: ['Your card was declined.'] }),
    ),
    needs_customer: Type.Boolean({
      description: 'It `failed` because the bank wants you to confirm it: pay on a page',
    }),
  }),
  'Money that the payment provider is asked for',
);

export const Invoice = named(
  'Invoice',
  Type.Object({
    id: Id,
    number: Nullable(
      Type.String({
        description:
          'Legal number, such as `2026-000123`: the last part has no gap in its series. It is given when the invoice is ' +
          'paid, or when it is issued, as the provider has it',
        examples: ['2026-000123'],
      }),
    ),
    kind: named('InvoiceKind', Choice(invoiceKinds)),
    issued_at: Nullable(meaning('When it got its number', Timestamp)),
    corrects_invoice_id: Nullable(
      meaning('Of a credit note: the invoice that it takes back, wholly or in part', Id),
    ),
    reason: Nullable(Type.String({ description: 'Of a credit note' })),
    note: Nullable(Type.String({ description: 'What staff wrote on an invoice that it issued by hand' })),
    payment_reference: Type.String({
      description: 'What to write on a transfer, so that it finds the invoice (ISO 11649)',
      examples: ['RF18539007547034'],
    }),
    duedate: Day,
    date_paid: Nullable(Timestamp),
    date_refunded: Nullable(Timestamp),
    price: MoneyText,
    tax_rate: Type.String({ description: 'Per cent', examples: ['21.00'] }),
    tax_country: Nullable(Type.String()),
    tax_exempt: Type.Boolean(),
    tax_treatment: Treatment,
    tax_included: Type.Boolean({ description: 'Whether the amounts of its lines have the tax inside' }),
    tax_reason: Nullable(Type.String({ description: 'Why an `exempt` buyer pays none' })),
    status: InvoiceStatus,
    overdue: Type.Boolean(),
    paid_with_credit: MoneyText,
    amount_paid: meaning('What has been paid towards it', MoneyText),
    amount_due: meaning(
      'What is still to be paid; it is delivered once nothing is. Nothing is due of one that is cancelled',
      MoneyText,
    ),
    credited: meaning(
      'What came in for it and became account credit, because it was cancelled or it was given back before the rest came',
      MoneyText,
    ),
    refunded: MoneyText,
    created_at: Timestamp,
    user_id: Nullable(Id),
    currency: Currency,
    subtotal: MoneyText,
    discount: MoneyText,
    tax: MoneyText,
    total: MoneyText,
    items: Type.Array(
      named(
        'InvoiceItem',
        Type.Object({
          description: Type.String(),
          product_id: Nullable(Id),
          service_id: Nullable(Id),
          quantity: Type.String({ description: 'How much of it', examples: ['2.5'] }),
          unit_price: meaning('What one costs', MoneyText),
          price: meaning('What the quantity costs', MoneyText),
          setup_fee: MoneyText,
          discount: MoneyText,
        }),
        'One line of an invoice',
      ),
    ),
    actions: Possible,
    payments: Type.Array(
      named(
        'Payment',
        Type.Object({
          id: Id,
          method: Choice(paymentMethods),
          amount: MoneyText,
          reference: Nullable(Type.String()),
          received_on: Nullable(Day),
          created_at: Timestamp,
        }),
        'Money that came in for an invoice',
      ),
    ),
    charge: Nullable(
      meaning(
        'What the payment provider was asked for last; null where it was not, and while a page to pay on is only open',
        Charge,
      ),
    ),
  }),
  'What is to be paid or was paid',
);

const PaymentWay = named(
  'PaymentWay',
  Type.Object({
    method: Choice(['credit', 'card', 'bank_transfer'], {
      description: '`credit` and `card` are what paying takes as `method`; a transfer is made at the bank',
    }),
    allowed: Type.Boolean(),
    reason: Nullable(Type.String({ description: 'Why not, and what to do' })),
    code: Nullable(Choice(wayCodes)),
    amount: meaning('What it would bring towards the invoice now', MoneyText),
    provider: Nullable(Type.String({ description: 'The payment provider', examples: ['stripe'] })),
    account: Nullable(
      named(
        'TransferAccount',
        Type.Object({
          holder: Type.String(),
          bank: Nullable(Type.String()),
          iban: Type.String(),
          bic: Nullable(Type.String()),
        }),
        'Where to transfer to; the invoice’s `payment_reference` says what for',
      ),
    ),
  }),
  'A way to pay an invoice: whether it is open now, and why not',
);

export const InvoiceData = named(
  'InvoiceAnswer',
  Type.Object({ invoice: Invoice, payment_ways: Type.Array(PaymentWay) }),
);

export const StaffInvoice = named(
  'StaffInvoice',
  Type.Object({ ...Invoice.properties, ...InvoiceTaxFacts, organization: OrganizationName }),
  'An invoice as staff sees it',
);
export const StaffInvoiceData = named('StaffInvoiceAnswer', Type.Object({ invoice: StaffInvoice }));
export const StaffInvoiceList = named('StaffInvoiceList', listOf('invoices', StaffInvoice));
export const StaffInvoiceQuery = ListQuery({
  status: Type.Optional(InvoiceStatus),
  organization_id: Type.Optional(Id),
  search: Search('Finds numbers that begin with this, in their order; `sort` is left out of account'),
  sort: SortBy(['created_at'], '-created_at'),
});

export const InvoiceListQuery = ListQuery({
  status: Type.Optional(InvoiceStatus),
  search: Search('Finds numbers that begin with this, in their order; `sort` is left out of account'),
  sort: SortBy(['created_at'], '-created_at'),
});

export const Credit = named(
  'Credit',
  Type.Object({ balance: MoneyText, currency: Currency }),
  'What an organization has in one currency; the first is what `credit_balance` shows',
);

export const InvoiceList = named(
  'InvoiceList',
  listOf('invoices', Invoice, {
    credit_balance: MoneyText,
    credit_currency: Nullable(Currency),
    credits: Type.Array(Credit),
    last_credit_transaction: Nullable(
      named(
        'CreditTransaction',
        Type.Object({
          amount: MoneyText,
          currency: Currency,
          description: Type.String(),
          created_at: Timestamp,
        }),
        'A movement of account credit',
      ),
    ),
  }),
);

export const Pay = named(
  'InvoicePayment',
  Strict({
    method: Choice(['credit', 'card', ...paymentProviders], {
      description:
        'How to pay: `credit` takes what is due from the account credit at once. `card` is the payment provider: a page to ' +
        'go to, or a saved method. Its own name, such as `stripe`, says the same of that provider alone',
    }),
    payment_method_id: Type.Optional(
      meaning('The saved method to charge; without it the customer is sent to a page', Id),
    ),
    use_credit: Type.Optional(
      Type.Boolean({
        description:
          'Takes the account credit first, and only the rest in the other way. The credit is taken when the rest has come; ' +
          'until then it is there for other invoices too',
      }),
    ),
  }),
);

export const PayData = named(
  'InvoicePaymentAnswer',
  Type.Object({
    invoice: Invoice,
    redirect_url: Nullable(
      Type.String({
        description: 'Where to send the customer, who pays there; null when there is nothing to go to',
      }),
    ),
    charge: Nullable(Charge),
  }),
);

const BookingDay = Type.Unsafe<string>({
  type: 'string',
  format: 'date',
  pattern: '^2',
  'x-message': 'must be a day from 2000-01-01 to today, such as 2026-01-31',
  examples: ['2026-01-31'],
});

export const CurrencyAsked = CurrencyCode({ examples: ['EUR'] });

const Reference = Type.String({
  minLength: 1,
  maxLength: 140,
  description: "The bank's reference; booked once",
});

const IsAnother = Type.Boolean({
  description:
    'It is not the transfer of that amount that a bank statement brought of the same organization in those days. Without it such a ' +
    'one is refused, since the same money would count twice',
});

export const Transfer = named(
  'BankTransfer',
  Strict({
    amount: Type.String({
      maxLength: 20,
      description: 'What was received, in the currency of the invoice',
      examples: ['12.50'],
    }),
    reference: Reference,
    received_on: Type.Optional(BookingDay),
    is_another: Type.Optional(IsAnother),
  }),
);

export const TransferData = named(
  'BankTransferAnswer',
  Type.Object({
    invoice: Invoice,
    credited: Nullable(
      Type.String({
        description:
          'What became account credit, because the invoice had been cancelled; null when it paid it',
        examples: ['12.50'],
      }),
    ),
  }),
);

export const TransferPart = named(
  'BankTransferPart',
  Strict({
    invoice_id: Id,
    amount: Type.Optional(
      Type.String({
        maxLength: 20,
        description: 'Default: what is due of the invoice, as far as the transfer goes',
        examples: ['12.50'],
      }),
    ),
  }),
  'What of a transfer goes to one invoice',
);

export const NewTransfer = named(
  'NewBankTransfer',
  Strict({
    amount: Type.String({ maxLength: 20, description: 'What was received', examples: ['25.00'] }),
    currency: CurrencyAsked,
    reference: Reference,
    received_on: Type.Optional(BookingDay),
    is_another: Type.Optional(IsAnother),
    invoices: Type.Optional(
      Type.Array(TransferPart, {
        maxItems: 100,
        description:
          'What it pays, in this order. Default: all that is due, the oldest invoice first. With `[]` all of it becomes ' +
          'account credit',
      }),
    ),
  }),
);

export const NewTransferData = named(
  'NewBankTransferAnswer',
  Type.Object({
    transfer: named(
      'BookedTransfer',
      Type.Object({
        id: Id,
        organization_id: Id,
        amount: MoneyText,
        currency: Currency,
        reference: Type.String(),
        received_on: Day,
        credited: meaning('What became account credit', MoneyText),
        created_at: Timestamp,
      }),
      'A bank transfer of an organization',
    ),
    invoices: Type.Array(Invoice, { description: 'Those that it paid, wholly or in part' }),
  }),
);

const TransferOfOrganization = named(
  'StaffBankTransfer',
  Type.Object({
    id: Id,
    organization: OrganizationName,
    amount: MoneyText,
    currency: Currency,
    reference: Type.String(),
    received_on: Day,
    invoices: Type.Array(
      named(
        'BankTransferShare',
        Type.Object({ invoice_id: Id, amount: MoneyText }),
        'What of a transfer went to one invoice',
      ),
      { description: 'What it was for; the rest became account credit' },
    ),
    created_at: Timestamp,
    taken_back_at: Nullable(Timestamp),
    taken_back_reason: Nullable(Type.String()),
  }),
  'A bank transfer as staff sees it',
);
export const TransferQuery = ListQuery({
  organization_id: Type.Optional(Id),
  search: Search('Finds references that begin with this, in their order; `sort` is left out of account'),
  sort: SortBy(['created_at'], '-created_at'),
});
export const TransferList = named('BankTransferList', listOf('transfers', TransferOfOrganization));
export const StaffTransferData = named(
  'StaffBankTransferAnswer',
  Type.Object({ transfer: TransferOfOrganization }),
);
export const TakeBack = named(
  'BankTransferTakeBack',
  Strict({ reason: Type.String({ minLength: 1, maxLength: 200, description: 'Shown to the customer' }) }),
);

export const Refund = named(
  'Refund',
  Strict({
    amount: Type.Optional(
      Type.String({
        maxLength: 20,
        description: 'In the currency of the invoice; default: all that is left',
        examples: ['12.50'],
      }),
    ),
    reason: Type.String({ minLength: 1, maxLength: 200, description: 'Shown to the customer' }),
    method: Choice(['credit', 'original'], {
      description:
        'Where the money goes: to the account credit, or to the card or account that it came from by the payment provider. ' +
        'What came otherwise becomes credit then too',
    }),
    dry_run: Type.Optional(
      Type.Boolean({ description: 'Says what would go back where, and gives nothing back' }),
    ),
  }),
);

const ReturnedMoney = named(
  'ReturnedMoney',
  Type.Object({
    method: Choice(['credit', 'original'], {
      description: 'To the account credit, or by the payment provider to where it came from',
    }),
    amount: MoneyText,
    currency: Type.String(),
    fee: Nullable(
      meaning('What the payment provider took for the charge that goes back; it may keep that', MoneyText),
    ),
    fee_currency: Nullable(Type.String()),
  }),
  'A part of a refund that goes one way',
);

const CreditNoteOfRefund = named(
  'CreditNoteOfRefund',
  Type.Object({
    number: Nullable(Type.String({ description: 'Null while nothing was issued' })),
    series: Type.String({ description: 'What its number begins with', examples: ['CN-2026-'] }),
    total: meaning('Negative: it takes back so much', MoneyText),
    tax: MoneyText,
    currency: Type.String(),
  }),
  'The document that corrects the invoice',
);

export const Refunded = named(
  'RefundAnswer',
  Type.Object({
    dry_run: Type.Boolean(),
    invoice: meaning('As it is afterwards', Invoice),
    returned: Type.Array(ReturnedMoney),
    credit_note: Nullable(CreditNoteOfRefund),
    stays: Type.Array(
      named(
        'StayingService',
        Type.Object({ service_id: Id, message: Type.String() }),
        'A service that goes on as it is although its money was given back',
      ),
    ),
  }),
);

export const CreditGrant = named(
  'CreditGrant',
  Strict({
    amount: Type.String({ maxLength: 20, examples: ['50.00'] }),
    currency: CurrencyAsked,
    description: Type.String({ minLength: 1, maxLength: 200 }),
  }),
);

export const CreditGranted = named(
  'CreditAnswer',
  Type.Object({ credit_balance: MoneyText, currency: Currency }),
);

export const TopUp = named(
  'CreditTopUp',
  Strict({
    amount: Type.String({ maxLength: 20, examples: ['50.00'] }),
    currency: Type.Optional(meaning('Default: that of the newest invoice', CurrencyAsked)),
  }),
);

export const TopUpData = named('CreditTopUpAnswer', Type.Object({ invoice_id: Id }));
