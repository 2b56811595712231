import { Type } from 'typebox';
import { ChosenOptions, CycleName, ProductGroup } from '../../catalog/index.ts';
import {
  Choice,
  Day,
  Id,
  MoneyText,
  meaning,
  Nullable,
  named,
  Strict,
  shownAs,
} from '../../platform/http/index.ts';
import { Service } from '../schema.ts';
import { moments } from './view.ts';

const terms = {
  prorated_charge: meaning(
    'Due now, before tax: the difference in price for the days that remain, rounded down',
    MoneyText,
  ),
  credit: meaning('What was paid already for the days that remain; prorated_charge is less by it', MoneyText),
  discount: meaning('What the coupon takes off', MoneyText),
  new_price: meaning('Of each period from then on', MoneyText),
  total: meaning('What the invoice asks for: prorated_charge less the discount, with tax', MoneyText),
  currency: Type.String(),
  effective: named('ChangeEffective', Choice(moments), 'When the change counts'),
  effective_on: Nullable(meaning('The day on which it counts, when that is the end of the period', Day)),
  cycle: meaning('Of the periods from then on', shownAs(CycleName, Type.String())),
  new_duedate: meaning('The due date then: another one when a period of another cycle begins', Day),
  options: ChosenOptions,
};

export const UpgradeOptions = named(
  'UpgradeOptions',
  Type.Object({
    service: Service,
    availableProducts: Type.Array(
      named(
        'AvailableProduct',
        Type.Object({
          id: Id,
          name: Type.String(),
          description: Type.String(),
          group: ProductGroup,
          ...terms,
        }),
        'Another product that the service can become, and what it would cost now',
      ),
    ),
  }),
  'What a service can become',
);

export const UpgradeQuery = Strict({
  cycle: Type.Optional(meaning('Default: the one it has', CycleName)),
});

export const Upgrade = named(
  'ServiceUpgrade',
  Strict({
    product_id: Id,
    cycle: Type.Optional(
      meaning('Default: the one it has. With another one a new period begins today', CycleName),
    ),
    couponcode: Type.Optional(Type.String({ minLength: 1, maxLength: 100 })),
    dry_run: Type.Optional(Type.Boolean({ description: 'Says what it would cost, and reserves nothing' })),
  }),
);

export const UpgradeData = named(
  'ServiceUpgradeAnswer',
  Type.Object({ invoice_id: Nullable(Id), ...terms }),
  'What the change costs and when it takes effect',
);
