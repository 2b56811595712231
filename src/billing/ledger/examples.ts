import { type Example, exampleIds as ids, onlyPage } from '../../platform/http/index.ts';

/** The credit of the story, before anything is paid with it. */
export const examples = {
  listCreditTransactions: {
    query: { currency: 'EUR' },
    data: {
      transactions: [
        {
          number: 2,
          kind: 'invoice_paid',
          amount: '-7.00',
          balance: '193.00',
          currency: 'EUR',
          description: `Invoice ${ids.invoice}`,
          invoice_id: ids.invoice,
          created_at: '2026-01-31T22:02:14.489Z',
        },
        {
          number: 1,
          kind: 'credit_granted',
          amount: '200.00',
          balance: '200.00',
          currency: 'EUR',
          description: 'Welcome',
          invoice_id: null,
          created_at: '2026-01-31T22:02:13.570Z',
        },
      ],
      credits: [{ balance: '193.00', currency: 'EUR' }],
      ...onlyPage(2),
    },
  },
} satisfies Record<string, Example>;
