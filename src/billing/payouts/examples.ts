import { type Example, exampleIds as ids, onlyPage } from '../../platform/http/index.ts';

const payout = {
  id: 4503599627370811,
  driver: 'stripe',
  reference: 'po_1SbnDZKZ2bqdE0kAGa1nC8jX',
  state: 'paid',
  amount: '1204.15',
  currency: 'EUR',
  fee: '0.00',
  fee_currency: 'EUR',
  arrives_on: '2026-02-02',
  seen_at: '2026-01-31T22:12:10.120Z',
  failure: null,
  bank_entry: null,
};

const unknown = {
  id: 4503599627370812,
  driver: 'stripe',
  reference: 'pi_3SbnDZKZ2bqdE0kA1hQ2n7Lm',
  amount: '25.00',
  currency: 'EUR',
  organization: { id: ids.organization, name: 'Novak Labs' },
  told_invoice_id: 4503599627370813,
  state: 'open',
  invoice_id: null,
  reason: null,
  seen_at: '2026-02-02T03:00:10.120Z',
};

export const examples = {
  listPayouts: { data: { payouts: [payout], ...onlyPage(1) } },
  listUnknownPayments: { data: { payments: [unknown], ...onlyPage(1) } },
  bookUnknownPayment: {
    params: { id: unknown.id },
    body: { invoice_id: ids.invoice },
    data: { payment: { ...unknown, state: 'booked', invoice_id: ids.invoice } },
  },
  dismissUnknownPayment: {
    params: { id: unknown.id },
    body: { reason: 'Given back at the provider' },
    data: { payment: { ...unknown, state: 'dismissed', reason: 'Given back at the provider' } },
  },
  releaseRestore: { params: { id: 4503599627370814 }, data: { released: true } },
} satisfies Record<string, Example>;
