import type { Example } from '../../platform/http/index.ts';

const profile = {
  kind: 'person',
  consumer: true,
  name: 'Novak Labs',
  country: null,
  address_line1: null,
  address_line2: null,
  postal_code: null,
  city: null,
  region: null,
  declared_country: null,
  tax_id: null,
  language: null,
  email: null,
  routing_id: null,
  order_number: null,
  updated_at: null,
};

/** A request and its answer for each operation, parts of one story. */
export const examples = {
  getBillingProfile: { data: { profile } },
  updateBillingProfile: {
    body: {
      kind: 'company',
      consumer: false,
      name: 'Novak Labs s.r.o.',
      address_line1: 'Lindenweg 7',
      postal_code: '10115',
      city: 'Berlin',
      country: 'DE',
      tax_id: 'DE 136 695 976',
      language: 'de',
      email: 'billing@example.com',
    },
    data: {
      profile: {
        ...profile,
        kind: 'company',
        consumer: false,
        name: 'Novak Labs s.r.o.',
        address_line1: 'Lindenweg 7',
        postal_code: '10115',
        city: 'Berlin',
        country: 'DE',
        tax_id: 'DE136695976',
        language: 'de',
        email: 'billing@example.com',
        updated_at: '2026-01-31T22:02:15.120Z',
      },
    },
  },
} satisfies Record<string, Example>;
