import { Type } from 'typebox';
import {
  Choice,
  CurrencyCode,
  Id,
  ListQuery,
  listOf,
  MoneyText,
  meaning,
  Nullable,
  named,
  Search,
  SortBy,
  Strict,
} from '../platform/http/index.ts';
import { cycles } from './cycles.ts';
import { Line, Place } from './fields.ts';
import { ChosenOptions, OptionKey } from './optionSchema.ts';
import { TrafficChange, TrafficTerms } from './trafficSchema.ts';

export const CycleName = named(
  'Cycle',
  Choice(cycles),
  'How long one period of billing lasts: 1, 3, 6, 12, 24 or 36 months',
);

export const ProductType = named(
  'ProductType',
  Choice(['Hosting', 'Domain']),
  '`Domain` for domain names, `Hosting` for everything else',
);

export const ProductGroup = named(
  'ProductGroup',
  Type.Object({ id: Id, name: Type.String() }),
  'What a product is listed under',
);

const Option = named(
  'ProductOption',
  Type.Object({
    key: Type.String({ examples: ['option1'] }),
    name: Type.String({ examples: ['memory_gb'] }),
    label: Type.String(),
    kind: Choice(['integer', 'choice']),
    min: Nullable(Type.Integer()),
    max: Nullable(Type.Integer()),
    step: Nullable(Type.Integer()),
    values: Type.Array(
      named(
        'OptionValue',
        Type.Object({ value: Type.String(), label: Type.String(), price: MoneyText }),
        'One value to choose',
      ),
    ),
    unit_price: Nullable(
      Type.String({ description: "A month's price of each unit above min", examples: ['2.00'] }),
    ),
    required: Type.Boolean(),
  }),
  'Something to choose about a product',
);

/** Each is a row of `services/kinds/table.ts`. */
const kinds = '1 manual, 2 VPS, 3 web hosting, 4 domain, 5 dedicated server';

export const Product = named(
  'Product',
  Type.Object({
    id: Id,
    type: ProductType,
    moduleId: Type.Integer({ description: kinds }),
    name: Type.String(),
    description: Type.String(),
    group: ProductGroup,
    stock: Nullable(Type.Integer({ description: 'How many can be ordered; null for no limit' })),
    servers: Nullable(
      Type.Array(
        named(
          'ServerOffer',
          Type.Object({
            threads: Nullable(Type.Integer()),
            memory_gb: Nullable(Type.Integer({ description: 'What option1 chooses' })),
            storage_gb: Nullable(
              Type.Integer({ description: 'All of its disks together: what option2 chooses' }),
            ),
            port_mbps: Nullable(
              Type.Integer({
                description:
                  'In Mbit/s: what option7 chooses, once a profile of the product says it; null: it is not said',
              }),
            ),
            location: Type.String({ description: 'What option8 chooses' }),
            stock: Type.Integer({ description: 'How many of these can be ordered' }),
          }),
          'Servers of one make at one place, to be rented whole',
        ),
        {
          description:
            'Of what is sold out of the rack: what servers there are. An order names what one of these has; null: whatever its options allow',
        },
      ),
    ),
    traffic: Nullable(TrafficTerms),
    prices: Type.Array(
      named(
        'ProductPrice',
        Type.Object({ cycle: CycleName, price: MoneyText, setup_fee: MoneyText, currency: Type.String() }),
        'What one cycle costs',
      ),
    ),
    options: Type.Array(Option),
  }),
  'Something for sale, with its prices and what can be chosen about it',
);

const Status = named(
  'ProductStatus',
  Choice(['active', 'hidden', 'retired']),
  'Only `active` products are shown and sold; `retired` ones stay for those who have them',
);
const Downgrade = named(
  'ProductDowngrade',
  Choice(['now', 'period_end']),
  'When a change of a service to what costs less counts: at once, or with its next period',
);
const StaffProduct = named(
  'StaffProduct',
  Type.Object({
    ...Product.properties,
    status: Status,
    downgrade: Downgrade,
    position: Type.Integer({ description: 'Products with lower ones come first in their group' }),
    retired_options: meaning(
      'What nobody orders with any more; what was bought with it keeps it',
      Type.Array(Option),
    ),
  }),
  'A product as staff sees it',
);

export const ProductData = named('ProductAnswer', Type.Object({ product: Product }));
export const ProductQuery = ListQuery({ sort: SortBy(['position', 'id', 'name'], 'position') });
export const ProductList = named('ProductList', listOf('products', Product));
export const StaffProductData = named('StaffProductAnswer', Type.Object({ product: StaffProduct }));

export const StaffProductList = named('StaffProductList', listOf('products', StaffProduct));
export const StaffProductQuery = ListQuery({
  status: Type.Optional(Status),
  search: Search('Finds names that begin with this, in their order; `sort` is left out of account'),
  sort: SortBy(['id', 'name', 'position'], 'id'),
});

const Amount = Type.String({ maxLength: 20, examples: ['4.00'] });
const Bound = Type.Integer({ minimum: 0, maximum: 1_000_000 });

const PriceChange = named(
  'NewPrice',
  Strict({
    cycle: CycleName,
    price: Nullable(meaning('Null: it is no longer sold so', Amount)),
    setup_fee: Type.Optional(Amount),
  }),
);

const OptionValue = named(
  'NewOptionValue',
  Strict({
    value: Line(100, 'debian'),
    label: Line(100, 'Debian 12'),
    price: Type.Optional(meaning('A month; default: nothing', Amount)),
  }),
);

const OptionChange = named(
  'OptionBounds',
  Strict({
    key: OptionKey,
    name: Type.Optional(Line(40, 'memory_gb')),
    label: Type.Optional(Line(100, 'Memory (GB)')),
    required: Type.Optional(Type.Boolean({ description: 'Whether an order must name it; default: true' })),
    min: Type.Optional(Bound),
    max: Type.Optional(Bound),
    step: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000_000 })),
    unit_price: Type.Optional(meaning("A month's price of each unit above min", Amount)),
    values: Type.Optional(
      Type.Array(OptionValue, {
        minItems: 1,
        maxItems: 100,
        description: 'All that can be chosen; instead of min and max',
      }),
    ),
    retired: Type.Optional(
      Type.Boolean({ description: 'Nobody orders with it any more; what was bought with it keeps it' }),
    ),
  }),
  'An option as it is to be: a number from `min` to `max`, or one of `values`. One that the product lacks is added',
);

const ModuleId = Type.Integer({
  minimum: 1,
  maximum: 5,
  description: `${kinds}; fixed once it was sold`,
});
const Currency = CurrencyCode({ description: 'Of all its prices; fixed', examples: ['EUR'] });
const Stock = Nullable(Type.Integer({ minimum: 0, maximum: 1_000_000_000 }));

const parts = {
  description: Type.Optional(Type.String({ maxLength: 5000 })),
  stock: Type.Optional(Stock),
  status: Type.Optional(Status),
  downgrade: Type.Optional(Downgrade),
  traffic: Type.Optional(meaning('Of servers alone; null: nothing of it is billed', Nullable(TrafficChange))),
  position: Type.Optional(Place),
  prices: Type.Optional(Type.Array(PriceChange, { maxItems: 6 })),
  options: Type.Optional(Type.Array(OptionChange, { maxItems: 8 })),
};

export const NewProduct = named(
  'NewProduct',
  Strict({
    type: ProductType,
    moduleId: ModuleId,
    group_id: Id,
    name: Line(200, 'Web hosting, large'),
    currency: Currency,
    ...parts,
  }),
);

const changeable = {
  type: Type.Optional(ProductType),
  moduleId: Type.Optional(ModuleId),
  group_id: Type.Optional(Id),
  name: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
  currency: Type.Optional(Currency),
  ...parts,
};

export const ProductChange = named('ProductChange', Strict(changeable));

export const PreviewedProduct = named(
  'PreviewedProduct',
  Strict({
    ...changeable,
    order: Type.Optional(
      named(
        'PreviewedOrder',
        Strict({ cycle: CycleName, options: Type.Optional(ChosenOptions) }),
        'What somebody would order of it',
      ),
    ),
  }),
  'A change of a product that is not made, and what somebody would order of it then',
);

const Having = named(
  'ServicesOfProduct',
  Type.Object({
    services: Type.Integer({ description: 'How many there are; they keep their terms and their price' }),
    differing: Type.Integer({ description: 'How many would pay another price if they were moved to it' }),
    cycles: Type.Array(
      Type.Object({
        cycle: Type.String(),
        services: Type.Integer(),
        price_before: meaning('Of one period of all of them, before tax', MoneyText),
        price_after: MoneyText,
      }),
    ),
  }),
  'What a change means to services that are there',
);

export const ProductPreview = named(
  'ProductPreviewAnswer',
  Type.Object({
    product: meaning('As it would be', StaffProduct),
    order: Nullable(
      named(
        'PreviewedPrice',
        Type.Object({
          cycle: CycleName,
          price: meaning('Of each period, before tax as the settings have prices', MoneyText),
          setup_fee: meaning('Once, with the first period', MoneyText),
          currency: Type.String(),
        }),
        'What the order would cost; the customer’s tax and coupon are not in it',
      ),
    ),
    having: Nullable(meaning('Null where the body changes nothing', Having)),
  }),
);
