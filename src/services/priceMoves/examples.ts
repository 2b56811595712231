import { type Example, exampleIds as ids, onlyPage } from '../../platform/http/index.ts';

const counts = { waiting: 0, told: 0, moved: 0, ended: 0, revoked: 0 };

const move = {
  id: 1,
  product: { id: 1, name: 'VPS' },
  from: '2099-02-01',
  notice_days: 30,
  currency: 'EUR',
  prices: [
    { cycle: 'monthly', price: '4.50' },
    { cycle: 'quarterly', price: '12.00' },
    { cycle: 'annually', price: '40.00' },
  ],
  state: 'preparing',
  services: counts,
  user_id: 3,
  created_at: '2026-02-01T09:30:00.000Z',
  revoked_at: null,
};

const told = { ...move, state: 'announced', services: { ...counts, told: 1 } };

/** The VPS of the story costs more from some day on, until staff thinks better of it. */
export const examples = {
  createPriceMove: {
    params: { id: 1 },
    body: { from: '2099-02-01' },
    data: { price_move: move, preview: null },
  },
  getPriceMove: { params: { id: 1 }, data: { price_move: told } },
  listPriceMoves: { query: { product_id: 1 }, data: { price_moves: [told], ...onlyPage(1) } },
  listPriceMoveServices: {
    params: { id: 1 },
    query: { limit: 10 },
    data: {
      services: [
        {
          service: { id: ids.service, hostname: 'web1.example.com', status: 'active' },
          organization: { id: ids.organization, name: 'Novak Labs' },
          state: 'told',
          cycle: 'monthly',
          price_before: '7.00',
          price_after: '7.50',
          currency: 'EUR',
          told_on: '2026-02-01',
          counts_on: '2099-02-01',
          moved_on: null,
        },
      ],
      ...onlyPage(1),
    },
  },
  revokePriceMove: {
    params: { id: 1 },
    data: {
      price_move: {
        ...move,
        state: 'revoked',
        services: { ...counts, revoked: 1 },
        revoked_at: '2026-02-02T09:30:00.000Z',
      },
    },
  },
} satisfies Record<string, Example>;
