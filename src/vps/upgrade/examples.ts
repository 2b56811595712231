import { type Example, exampleIds as ids } from '../../platform/http/index.ts';

/** The VPS of the story, asked what more memory would cost. */
export const examples = {
  upgradeVpsResources: {
    params: { id: ids.service },
    body: { option1: 4, dry_run: true },
    data: {
      invoice_id: null,
      prorated_charge: '4.00',
      credit: '7.00',
      new_price: '11.00',
      total: '4.00',
      currency: 'EUR',
      effective: 'on_payment',
      options: {
        option1: 4,
        option2: 20,
        option3: 1,
        option4: 1,
        option5: 1,
        option6: 'debian',
        option7: '1gbit',
        option8: 'AMS',
      },
      action: null,
    },
  },
} satisfies Record<string, Example>;
