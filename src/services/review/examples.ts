import { type Example, exampleIds as ids, onlyPage } from '../../platform/http/index.ts';

const order = {
  id: ids.secondInvoice,
  number: '2026-000002',
  organization: { id: ids.organization, name: 'Novak Labs' },
  user_id: 4503599627370601,
  invoice_status: 'paid',
  currency: 'EUR',
  total: '847.00',
  created_at: '2026-01-31T22:02:14.412Z',
  services: [{ id: ids.secondService, product: 'VPS', domain: 'web1.example.com', status: 'pending' }],
  review: {
    status: 'held',
    reasons: ['Its total is more than 500.00 EUR'],
    held_at: '2026-01-31T22:04:10.020Z',
    decided_at: null,
    decided_by: null,
    note: null,
  },
};

const decided = { decided_at: '2026-01-31T22:20:00.000Z', decided_by: 4503599627370602 };
const released = {
  ...order,
  review: { ...order.review, ...decided, status: 'released', note: 'Called them' },
};
const refused = {
  ...order,
  invoice_status: 'refunded',
  review: { ...order.review, ...decided, status: 'refused', note: 'We could not reach you' },
};

/** A request and its answer for each operation, parts of one story. */
export const examples = {
  listOrders: { query: { review: 'held' }, data: { orders: [order], ...onlyPage(1) } },
  getOrder: { params: { id: ids.secondInvoice }, data: { order } },
  releaseOrder: {
    params: { id: ids.secondInvoice },
    body: { note: 'Called them' },
    data: { order: released },
  },
  refuseOrder: {
    params: { id: ids.secondInvoice },
    body: { reason: 'We could not reach you' },
    data: { order: refused },
  },
} satisfies Record<string, Example>;
