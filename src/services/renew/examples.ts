import { type Example, exampleIds as ids } from '../../platform/http/index.ts';
import { service } from '../examples.ts';

const invoiceId = 4503599627370651;

/** The VPS of the story is renewed for a year. */
export const examples = {
  getRenewalOptions: {
    params: { id: ids.service },
    data: {
      service,
      cycles: [
        {
          cycle: 'monthly',
          price: '7.00',
          discount_percent: 0,
          new_duedate: '2026-03-31',
          coming_price: null,
        },
        {
          cycle: 'quarterly',
          price: '21.00',
          discount_percent: 0,
          new_duedate: '2026-05-31',
          coming_price: null,
        },
        {
          cycle: 'annually',
          price: '76.00',
          discount_percent: 9,
          new_duedate: '2027-02-28',
          coming_price: null,
        },
      ],
      auto_renew: true,
      open_invoice_id: null,
    },
  },
  renewService: {
    params: { id: ids.service },
    body: { cycle: 'annually' },
    data: { invoice_id: invoiceId },
  },
} satisfies Record<string, Example>;
