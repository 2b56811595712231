import { Type } from 'typebox';
import { Id, MoneyText, Nullable, Strict, Timestamp } from '../platform/http/index.ts';

const OptionInteger = Type.Optional(Type.Integer({ description: 'Configuration value' }));
const OptionText = Type.Optional(Type.String({ maxLength: 100, description: 'Configuration value' }));

const ItemOptions = Strict({
  option1: OptionInteger,
  option2: OptionInteger,
  option3: OptionInteger,
  option4: OptionInteger,
  option5: OptionInteger,
  option6: OptionText,
  option7: OptionText,
  option8: OptionText,
  domain: Type.Optional(Type.String({ maxLength: 300, description: 'Hostname of the machine' })),
  password: Type.Optional(
    Type.String({
      maxLength: 128,
      description: 'At least 8 characters of 3 of the 4 classes lower case, upper case, digit, special',
    }),
  ),
});

const Item = Strict({
  // Anything that is no product id has an answer of its own: "product not found".
  id: Type.Unknown({ description: 'Product id, a positive integer' }),
  cycle: Type.String({ maxLength: 40, description: 'Billing cycle', examples: ['monthly'] }),
  type: Type.String({ maxLength: 40, description: '`Hosting` or `Domain`', examples: ['Hosting'] }),
  domain: Type.Optional(
    Type.String({ maxLength: 300, description: 'Domain name, for products of type Domain' }),
  ),
  options: Type.Optional(ItemOptions),
});

export const Cart = Strict({
  products: Type.Array(Item, { maxItems: 50 }),
  couponcode: Type.Optional(Type.String({ maxLength: 100 })),
});

const Priced = {
  currency: Type.String(),
  subtotal: MoneyText,
  discount: MoneyText,
  tax: MoneyText,
  total: MoneyText,
  items: Type.Array(
    Type.Object({
      product_id: Id,
      name: Type.String(),
      cycle: Type.String(),
      domain: Nullable(Type.String()),
      price: MoneyText,
      setup_fee: MoneyText,
      discount: MoneyText,
    }),
  ),
};

export const Quote = Type.Object({
  invoice_id: Type.Null(),
  ...Priced,
  service_ids: Type.Array(Id, { maxItems: 0 }),
  reserved_until: Type.Null(),
});

export const Order = Type.Object({
  invoice_id: Id,
  ...Priced,
  service_ids: Type.Array(Id),
  reserved_until: Timestamp,
});
