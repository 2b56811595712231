import { Type } from 'typebox';
import { Choice, Strict } from '../../platform/http/index.ts';
import { settings } from '../../settings/index.ts';

/** How the provider taxes what it sells; where it is established is the company's country. */
export const taxSettings = settings({
  name: 'tax',
  about: 'How prices and invoices carry tax',
  shape: Strict({
    prices: Choice(['net', 'gross'], {
      description:
        '`net`: tax comes on top of prices. `gross`: it is inside, and a price is what everybody pays, whatever their tax',
    }),
    one_stop_shop: Type.Boolean({
      description:
        'Whether consumers elsewhere in the European Union are taxed by the rate of where they live, as they have to be ' +
        "above the threshold; otherwise by that of the company's country",
    }),
    unknown_tax_id: Choice(['tax', 'reverse_charge'], {
      description:
        'What counts while nobody could look up a VAT id. `tax` gives the tax back as credit once the id is known to be ' +
        'valid; `reverse_charge` leaves it to staff should it not be',
    }),
  }),
  defaults: { prices: 'net', one_stop_shop: false, unknown_tax_id: 'tax' },
  example: { prices: 'net', one_stop_shop: true, unknown_tax_id: 'tax' },
});
