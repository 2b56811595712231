import { type Example, exampleIds as ids } from '../platform/http/index.ts';

/** A request and its answer for each operation, parts of one story. */
export const examples = {
  quoteCart: {
    body: {
      products: [
        {
          id: 1,
          cycle: 'monthly',
          type: 'Hosting',
          options: {
            option1: 2,
            option2: 20,
            option3: 1,
            option4: 1,
            option5: 1,
            option6: 'debian',
            option7: '1gbit',
            option8: 'AMS',
            domain: 'web1.example.com',
            password: 'Correct-Horse-7',
          },
        },
      ],
    },
    data: {
      invoice_id: null,
      currency: 'EUR',
      subtotal: '7.00',
      discount: '0.00',
      tax: '0.00',
      total: '7.00',
      items: [
        {
          product_id: 1,
          name: 'VPS',
          cycle: 'monthly',
          domain: 'web1.example.com',
          price: '7.00',
          setup_fee: '0.00',
          discount: '0.00',
        },
      ],
      service_ids: [],
      reserved_until: null,
    },
  },
  checkout: {
    body: {
      products: [
        {
          id: 1,
          cycle: 'monthly',
          type: 'Hosting',
          options: {
            option1: 2,
            option2: 20,
            option3: 1,
            option4: 1,
            option5: 1,
            option6: 'debian',
            option7: '1gbit',
            option8: 'AMS',
            domain: 'web1.example.com',
            password: 'Correct-Horse-7',
          },
        },
      ],
    },
    data: {
      invoice_id: ids.invoice,
      currency: 'EUR',
      subtotal: '7.00',
      discount: '0.00',
      tax: '0.00',
      total: '7.00',
      items: [
        {
          product_id: 1,
          name: 'VPS',
          cycle: 'monthly',
          domain: 'web1.example.com',
          price: '7.00',
          setup_fee: '0.00',
          discount: '0.00',
        },
      ],
      service_ids: [ids.service],
      reserved_until: '2026-02-03T23:59:59.999Z',
    },
  },
} satisfies Record<string, Example>;
