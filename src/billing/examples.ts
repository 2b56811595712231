import { type Example, exampleIds as ids, onlyPage } from '../platform/http/index.ts';

const possible = { allowed: true, reason: null, code: null };
const notPayable = {
  allowed: false,
  reason: `Invoice ${ids.invoice} is paid, so it cannot be paid`,
  code: 'invoice_not_payable',
};
const notCancelled = {
  allowed: false,
  reason: `Invoice ${ids.invoice} is paid, so it cannot be cancelled`,
  code: 'conflict',
};

const invoice = {
  id: ids.invoice,
  number: '2026-000001',
  kind: 'order',
  issued_at: '2026-01-31T22:02:14.501Z',
  corrects_invoice_id: null,
  reason: null,
  note: null,
  payment_reference: 'RF554503599627370500',
  duedate: '2026-02-03',
  date_paid: '2026-01-31T22:02:14.501Z',
  date_refunded: null,
  price: '7.00',
  tax_rate: '0.00',
  tax_country: null,
  tax_exempt: true,
  tax_treatment: 'outside',
  tax_included: false,
  tax_reason: null,
  status: 'paid',
  overdue: false,
  paid_with_credit: '7.00',
  amount_paid: '7.00',
  amount_due: '0.00',
  credited: '0.00',
  refunded: '0.00',
  created_at: '2026-01-31T22:02:14.416Z',
  user_id: 4503599627370601,
  currency: 'EUR',
  subtotal: '7.00',
  discount: '0.00',
  tax: '0.00',
  total: '7.00',
  items: [
    {
      description: 'VPS, web1.example.com, monthly',
      product_id: 1,
      service_id: ids.service,
      quantity: '1',
      unit_price: '7.00',
      price: '7.00',
      setup_fee: '0.00',
      discount: '0.00',
    },
  ],
  actions: { pay: notPayable, cancel: notCancelled },
  payments: [
    {
      id: 4503599627370603,
      method: 'credit',
      amount: '7.00',
      reference: null,
      received_on: null,
      created_at: '2026-01-31T22:02:14.489Z',
    },
  ],
  charge: null,
};

const forStaff = {
  ...invoice,
  tax_consumer: true,
  tax_proof: null,
  tax_awaits: false,
  tax_evidence: [],
  organization: { id: ids.organization, name: 'Novak Labs' },
};

const byHand = {
  ...forStaff,
  id: 4503599627370741,
  number: null,
  kind: 'manual',
  issued_at: null,
  note: 'As agreed on the phone',
  payment_reference: 'RF234503599627370741',
  date_paid: null,
  price: '200.00',
  status: 'unpaid',
  paid_with_credit: '0.00',
  amount_paid: '0.00',
  amount_due: '200.00',
  subtotal: '200.00',
  total: '200.00',
  items: [
    {
      description: 'Moving your website',
      product_id: null,
      service_id: ids.service,
      quantity: '2.5',
      unit_price: '80.00',
      price: '200.00',
      setup_fee: '0.00',
      discount: '0.00',
    },
  ],
  actions: {
    pay: possible,
    cancel: {
      allowed: false,
      reason: 'This invoice cannot be cancelled here; write to us about it',
      code: 'conflict',
    },
  },
  payments: [],
};

const transfer = {
  id: 4503599627370690,
  organization: { id: ids.organization, name: 'Novak Labs' },
  amount: '20.00',
  currency: 'EUR',
  reference: 'NL-2026-0131-78',
  received_on: '2026-01-31',
  invoices: [],
  created_at: '2026-01-31T22:04:15.739Z',
  taken_back_at: null,
  taken_back_reason: null,
};

/** Of an invoice that asks for nothing any more. */
const waysOf = (id: number, status: string) =>
  (['credit', 'card', 'bank_transfer'] as const).map((method) => ({
    method,
    allowed: false,
    reason: `Invoice ${id} is ${status}, so it cannot be paid`,
    code: 'invoice_not_payable' as const,
    amount: '0.00',
    provider: null,
    account: null,
  }));

/** A request and its answer for each operation, parts of one story. */
export const examples = {
  getInvoice: { params: { id: ids.invoice }, data: { invoice, payment_ways: waysOf(ids.invoice, 'paid') } },
  listInvoices: {
    query: { status: 'unpaid' },
    data: {
      invoices: [
        {
          ...invoice,
          number: null,
          issued_at: null,
          date_paid: null,
          status: 'unpaid',
          actions: { pay: possible, cancel: possible },
          paid_with_credit: '0.00',
          amount_paid: '0.00',
          amount_due: '7.00',
          payments: [],
        },
      ],
      credit_balance: '200.00',
      credit_currency: 'EUR',
      credits: [{ balance: '200.00', currency: 'EUR' }],
      last_credit_transaction: {
        amount: '200.00',
        currency: 'EUR',
        description: 'Welcome',
        created_at: '2026-01-31T22:02:13.570Z',
      },
      ...onlyPage(1),
    },
  },
  payInvoice: {
    params: { id: ids.invoice },
    body: { method: 'credit' },
    data: { invoice: invoice, redirect_url: null, charge: null },
  },
  cancelInvoice: {
    params: { id: ids.secondInvoice },
    data: {
      invoice: {
        ...invoice,
        id: ids.secondInvoice,
        number: null,
        issued_at: null,
        date_paid: null,
        status: 'cancelled',
        paid_with_credit: '0.00',
        amount_paid: '0.00',
        payments: [],
      },
      payment_ways: waysOf(ids.secondInvoice, 'cancelled'),
    },
  },
  issueInvoice: {
    body: {
      organization_id: ids.organization,
      currency: 'EUR',
      lines: [
        {
          description: 'Moving your website',
          quantity: '2.5',
          unit_price: '80.00',
          service_id: ids.service,
        },
      ],
      note: 'As agreed on the phone',
    },
    data: { dry_run: false, invoice: byHand },
  },
  cancelInvoiceAsStaff: {
    params: { id: byHand.id },
    body: { reason: 'Another company did it' },
    data: {
      invoice: {
        ...byHand,
        status: 'cancelled',
        amount_due: '0.00',
        actions: {
          pay: {
            allowed: false,
            reason: `Invoice ${byHand.id} is cancelled, so it cannot be paid`,
            code: 'invoice_not_payable',
          },
          cancel: {
            allowed: false,
            reason: `Invoice ${byHand.id} is cancelled, so it cannot be cancelled`,
            code: 'conflict',
          },
        },
      },
    },
  },
  receiveBankTransfer: {
    params: { id: ids.secondInvoice },
    body: { amount: '7.00', reference: 'NL-2026-0131-77' },
    data: {
      invoice: {
        ...invoice,
        id: ids.secondInvoice,
        number: '2026-000002',
        date_paid: '2026-01-31T22:04:15.732Z',
        price: '7.00',
        paid_with_credit: '0.00',
        created_at: '2026-01-31T22:04:15.711Z',
        subtotal: '7.00',
        total: '7.00',
        items: [
          {
            description: 'VPS, web1.example.com, monthly',
            product_id: 1,
            service_id: ids.secondService,
            quantity: '1',
            unit_price: '7.00',
            price: '7.00',
            setup_fee: '0.00',
            discount: '0.00',
          },
        ],
        payments: [
          {
            id: 4503599627370613,
            method: 'bank_transfer',
            amount: '7.00',
            reference: 'NL-2026-0131-77',
            received_on: '2026-01-31',
            created_at: '2026-01-31T22:04:15.731Z',
          },
        ],
      },
      credited: null,
    },
  },
  bookBankTransfer: {
    params: { id: ids.organization },
    body: { amount: '20.00', currency: 'EUR', reference: 'NL-2026-0131-78', invoices: [] },
    data: {
      transfer: {
        id: 4503599627370690,
        organization_id: ids.organization,
        amount: '20.00',
        currency: 'EUR',
        reference: 'NL-2026-0131-78',
        received_on: '2026-01-31',
        credited: '20.00',
        created_at: '2026-01-31T22:04:15.739Z',
      },
      invoices: [],
    },
  },
  listBankTransfers: {
    query: { organization_id: ids.organization, search: 'NL-2026-0131-78' },
    data: { transfers: [transfer], ...onlyPage(1) },
  },
  takeBackBankTransfer: {
    params: { id: transfer.id },
    body: { reason: 'It was of another customer' },
    data: {
      transfer: {
        ...transfer,
        taken_back_at: '2026-01-31T22:04:15.741Z',
        taken_back_reason: 'It was of another customer',
      },
    },
  },
  refundInvoice: {
    params: { id: ids.secondInvoice },
    body: { amount: '2.00', reason: 'A day without network', method: 'credit' },
    data: {
      dry_run: false,
      invoice: {
        ...invoice,
        id: ids.secondInvoice,
        number: '2026-000002',
        date_paid: '2026-01-31T22:04:15.732Z',
        date_refunded: '2026-01-31T22:04:15.747Z',
        price: '7.00',
        status: 'partially_refunded',
        paid_with_credit: '0.00',
        refunded: '2.00',
        created_at: '2026-01-31T22:04:15.711Z',
        subtotal: '7.00',
        total: '7.00',
        items: [
          {
            description: 'VPS, web1.example.com, monthly',
            product_id: 1,
            service_id: ids.secondService,
            quantity: '1',
            unit_price: '7.00',
            price: '7.00',
            setup_fee: '0.00',
            discount: '0.00',
          },
        ],
        payments: [
          {
            id: 4503599627370613,
            method: 'bank_transfer',
            amount: '7.00',
            reference: 'NL-2026-0131-77',
            received_on: '2026-01-31',
            created_at: '2026-01-31T22:04:15.731Z',
          },
        ],
      },
      returned: [{ method: 'credit', amount: '2.00', currency: 'EUR', fee: null, fee_currency: null }],
      credit_note: {
        number: 'CN-2026-000001',
        series: 'CN-2026-',
        total: '-2.00',
        tax: '0.00',
        currency: 'EUR',
      },
      stays: [],
    },
  },
  correctInvoice: {
    params: { id: ids.secondInvoice },
    body: { lines: [{ line: 1, amount: '1.00' }], reason: 'The wrong price', method: 'credit' },
    data: {
      dry_run: false,
      invoice: {
        ...forStaff,
        id: ids.secondInvoice,
        number: '2026-000002',
        status: 'partially_refunded',
        refunded: '3.00',
        paid_with_credit: '0.00',
        items: [{ ...invoice.items[0], service_id: ids.secondService }],
        payments: [
          {
            id: 4503599627370613,
            method: 'bank_transfer',
            amount: '7.00',
            reference: 'NL-2026-0131-77',
            received_on: '2026-01-31',
            created_at: '2026-01-31T22:04:15.731Z',
          },
        ],
        date_refunded: '2026-01-31T22:05:15.747Z',
      },
      credit_note: {
        ...forStaff,
        id: 4503599627370745,
        number: 'CN-2026-000002',
        kind: 'credit_note',
        corrects_invoice_id: ids.secondInvoice,
        reason: 'The wrong price',
        payment_reference: 'RF124503599627370745',
        price: '-1.00',
        subtotal: '-1.00',
        total: '-1.00',
        paid_with_credit: '0.00',
        amount_paid: '0.00',
        items: [{ ...invoice.items[0], service_id: ids.secondService, unit_price: '-1.00', price: '-1.00' }],
        payments: [],
      },
    },
  },
  grantAccountCredit: {
    params: { id: ids.organization },
    body: { amount: '50.00', currency: 'EUR', description: 'Thank you for waiting' },
    data: { credit_balance: '265.00', currency: 'EUR' },
  },
  listInvoicesAsStaff: {
    query: { organization_id: ids.organization, search: '2026' },
    data: { invoices: [forStaff], ...onlyPage(1) },
  },
  getInvoiceAsStaff: { params: { id: ids.invoice }, data: { invoice: forStaff } },
  topUpCredit: { body: { amount: '50.00', currency: 'EUR' }, data: { invoice_id: 4503599627370731 } },
} satisfies Record<string, Example>;
