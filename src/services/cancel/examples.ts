import { type Example, exampleIds as ids } from '../../platform/http/index.ts';

const nothing = {
  because: 'none',
  total: '0.00',
  currency: 'EUR',
  method: 'credit',
  original: '0.00',
  invoices: [],
};
const periodEnd = '2026-02-28T00:00:00.000Z';

/** The VPS of the story is to end with its period, and then is not. */
export const examples = {
  getCancellation: {
    params: { id: ids.service },
    data: {
      cancelled: false,
      effective_at: null,
      refund: nothing,
      reason: null,
      withdrawal_until: '2026-02-14',
      immediate: {
        refund: {
          because: 'withdrawal',
          total: '7.00',
          currency: 'EUR',
          method: 'credit',
          original: '0.00',
          invoices: [{ invoice_id: ids.invoice, amount: '7.00', original: '0.00' }],
        },
      },
      end_of_period: { effective_at: periodEnd },
    },
  },
  cancelService: {
    params: { id: ids.service },
    body: { type: 'end_of_period', reason: 'We move elsewhere' },
    data: { cancelled: true, effective_at: periodEnd, refund: nothing },
  },
  revokeCancellation: {
    params: { id: ids.service },
    data: { cancelled: false, effective_at: null, refund: nothing },
  },
} satisfies Record<string, Example>;
