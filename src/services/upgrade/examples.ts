import { type Example, exampleIds as ids } from '../../platform/http/index.ts';
import { service } from '../examples.ts';

const terms = {
  prorated_charge: '5.00',
  credit: '7.00',
  discount: '0.00',
  new_price: '12.00',
  total: '5.00',
  currency: 'EUR',
  effective: 'on_payment',
  effective_on: null,
  cycle: 'monthly',
  new_duedate: '2026-02-28',
  options: { ...service.options, option1: 4 },
};

/** The VPS of the story, asked what a larger product would cost. */
export const examples = {
  getUpgradeOptions: {
    params: { id: ids.service },
    data: {
      service,
      availableProducts: [
        {
          id: 5,
          name: 'VPS Plus',
          description: 'Begins with 4 GB of memory.',
          group: { id: 1, name: 'Virtual servers' },
          ...terms,
        },
      ],
    },
  },
  upgradeService: {
    params: { id: ids.service },
    body: { product_id: 5, dry_run: true },
    data: { invoice_id: null, ...terms },
  },
} satisfies Record<string, Example>;
