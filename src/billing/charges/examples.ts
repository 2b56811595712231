import type { Example } from '../../platform/http/index.ts';

/** Neither answers JSON with data; tests send them as their callers do. */
export const examples = {
  openPaymentPage: {
    params: { page: 'charge-4503599627370720.C2vYb0xkz1l6W7m1cDqv4nq3m0pU3tJb1l2yqv0QJ5k' },
    data: null,
  },
  receivePaymentEvent: { params: { driver: 'stripe' }, data: null },
} satisfies Record<string, Example>;
