import { type Example, exampleIds as ids, onlyPage } from '../../platform/http/index.ts';

const organization = { id: ids.organization, name: 'Novak Labs' };

const payment = {
  id: 4503599627370813,
  organization,
  invoice_id: ids.secondInvoice,
  method: 'bank_transfer',
  state: 'received',
  amount: '7.00',
  returned: '0.00',
  currency: 'EUR',
  reference: 'RF18 5390 0754 7034',
  transfer_id: 4503599627370812,
  received_on: '2026-02-02',
  created_at: '2026-02-02T10:12:10.120Z',
};

const refund = {
  id: 4503599627370814,
  organization,
  invoice_id: ids.secondInvoice,
  method: 'credit',
  state: 'done',
  amount: '2.00',
  tax: '0.00',
  currency: 'EUR',
  reason: 'A day without network',
  reference: null,
  created_at: '2026-02-02T10:12:10.120Z',
};

const dispute = {
  id: 4503599627370815,
  organization,
  invoice_id: ids.invoice,
  driver: 'stripe',
  reference: 'du_1SbnDZKZ2bqdE0kAGa1nC8jX',
  state: 'open',
  amount: '25.00',
  currency: 'EUR',
  reason: 'fraudulent',
  fee: '20.00',
  fee_currency: 'EUR',
  unclear: '0.00',
  answer_by: '2026-02-09T10:12:10.120Z',
  opened_at: '2026-02-02T10:12:10.120Z',
  closed_at: null,
};

export const examples = {
  listPayments: { data: { payments: [payment], ...onlyPage(1) } },
  listRefunds: { data: { refunds: [refund], ...onlyPage(1) } },
  getRefund: { params: { id: refund.id }, data: { refund } },
  listDisputes: { data: { disputes: [dispute], ...onlyPage(1) } },
  settleDispute: {
    params: { id: dispute.id },
    body: { credit: '5.00', reason: 'The month that you did not have' },
    data: { dispute: { ...dispute, state: 'won', closed_at: '2026-02-04T10:12:10.120Z' } },
  },
  getDispute: { params: { id: dispute.id }, data: { dispute } },
} satisfies Record<string, Example>;
