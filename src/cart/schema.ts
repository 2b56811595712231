import { Type } from 'typebox';
import { CycleName, optionMeanings, ProductType } from '../catalog/index.ts';
import {
  Id,
  MoneyText,
  meaning,
  Nullable,
  named,
  Strict,
  shownAs,
  Timestamp,
} from '../platform/http/index.ts';

const OptionInteger = (key: keyof typeof optionMeanings) =>
  Type.Optional(Type.Integer({ description: optionMeanings[key] }));
const OptionText = (key: keyof typeof optionMeanings) =>
  Type.Optional(Type.String({ maxLength: 100, description: optionMeanings[key] }));

const ItemOptions = named(
  'CartItemOptions',
  Strict({
    option1: OptionInteger('option1'),
    option2: OptionInteger('option2'),
    option3: OptionInteger('option3'),
    option4: OptionInteger('option4'),
    option5: OptionInteger('option5'),
    option6: OptionText('option6'),
    option7: OptionText('option7'),
    option8: OptionText('option8'),
    domain: Type.Optional(
      Type.String({
        maxLength: 300,
        description: 'Hostname of the machine; needed for servers',
        examples: ['web1.example.com'],
      }),
    ),
    password: Type.Optional(
      Type.String({
        maxLength: 128,
        description:
          'First password of `root`, needed for servers: at least 8 characters, of three of these kinds: lower case, upper case, digits, others',
      }),
    ),
  }),
  'What is chosen about a product. Bounds, steps and values are those of the product; see its `options`',
);

const Item = named(
  'CartItem',
  Strict({
    // What is no product, cycle or type has an answer of its own, in the order of the checks (contract §2).
    id: shownAs(meaning('Id of the product', Id), Type.Unknown()),
    cycle: shownAs(CycleName, Type.String({ maxLength: 40 })),
    type: shownAs(ProductType, Type.String({ maxLength: 40 })),
    domain: Type.Optional(
      Type.String({ maxLength: 300, description: 'Domain name, for products of type Domain' }),
    ),
    options: Type.Optional(ItemOptions),
  }),
  'One product that is ordered',
);

export const Cart = named(
  'Cart',
  Strict({
    products: Type.Array(Item, { maxItems: 50 }),
    couponcode: Type.Optional(Type.String({ maxLength: 100, description: 'Code of a coupon' })),
  }),
  'What is ordered, all of it or nothing',
);

const Priced = {
  currency: Type.String(),
  subtotal: MoneyText,
  discount: MoneyText,
  tax: MoneyText,
  total: MoneyText,
  items: Type.Array(
    named(
      'PricedItem',
      Type.Object({
        product_id: Id,
        name: Type.String(),
        cycle: shownAs(CycleName, Type.String()),
        domain: Nullable(Type.String()),
        price: MoneyText,
        setup_fee: MoneyText,
        discount: MoneyText,
      }),
      'What one item costs',
    ),
  ),
};

export const Quote = named(
  'Quote',
  Type.Object({
    invoice_id: Type.Null(),
    ...Priced,
    service_ids: Type.Array(Id, { maxItems: 0 }),
    reserved_until: Type.Null(),
  }),
  'What a cart would cost',
);

export const Order = named(
  'Order',
  Type.Object({
    invoice_id: Id,
    ...Priced,
    service_ids: Type.Array(Id),
    reserved_until: Timestamp,
  }),
  'An order that waits for its payment',
);
