import { type Example, onlyPage } from '../../platform/http/index.ts';

export const examples = {
  listBookkeepingPeriods: {
    data: {
      periods: [
        { month: '2025-12', state: 'closed', transactions: 1_204, closed_at: '2026-01-01T01:04:00.000Z' },
      ],
      ...onlyPage(1),
    },
  },
  exportBookkeeping: { query: { month: '2025-12', format: 'datev' }, data: null },
} satisfies Record<string, Example>;
