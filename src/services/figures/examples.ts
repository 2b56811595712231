import type { Example } from '../../platform/http/index.ts';

export const examples = {
  getFigures: {
    query: { from: '2026-01', to: '2026-01' },
    data: {
      from: '2026-01',
      to: '2026-01',
      as_of: '2026-01-31T22:02:15.120Z',
      currencies: [
        {
          currency: 'EUR',
          months: [
            {
              month: '2026-01',
              recurring: {
                ...{ start: '0.00', new: '7.00', expanded: '3.00', contracted: '0.00', lost: '0.00' },
                end: '10.00',
              },
              ...{ earned: '0.00', deferred: '7.00', cash_in: '0.00', cash_out: '0.00' },
            },
          ],
          open: {
            ...{ invoices: 1, total: '12.00', not_due: '12.00', days_0_30: '0.00', days_31_60: '0.00' },
            ...{ days_61_90: '0.00', days_over_90: '0.00' },
          },
        },
      ],
    },
  },
} satisfies Record<string, Example>;
