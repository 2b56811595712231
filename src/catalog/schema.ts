import { Type } from 'typebox';
import { Choice, Id, ListQuery, listOf, MoneyText, Nullable, Strict } from '../platform/http/index.ts';
import { cycles } from './cycles.ts';

export const CycleName = Choice(cycles);

export const Product = Type.Object({
  id: Id,
  type: Choice(['Hosting', 'Domain']),
  moduleId: Type.Integer({ description: '1 manual, 2 VPS, 3 web hosting, 4 domain, 5 dedicated server' }),
  name: Type.String(),
  description: Type.String(),
  group: Type.Object({ id: Id, name: Type.String() }),
  stock: Nullable(Type.Integer({ description: 'How many can be ordered; null for no limit' })),
  prices: Type.Array(
    Type.Object({ cycle: CycleName, price: MoneyText, setup_fee: MoneyText, currency: Type.String() }),
  ),
  options: Type.Array(
    Type.Object({
      key: Type.String({ examples: ['option1'] }),
      name: Type.String({ examples: ['memory_gb'] }),
      label: Type.String(),
      kind: Choice(['integer', 'choice']),
      min: Nullable(Type.Integer()),
      max: Nullable(Type.Integer()),
      step: Nullable(Type.Integer()),
      values: Type.Array(Type.Object({ value: Type.String(), label: Type.String(), price: MoneyText })),
      unit_price: Nullable(
        Type.String({ description: "A month's price of each unit above min", examples: ['2.00'] }),
      ),
      required: Type.Boolean(),
    }),
  ),
});

const Status = Choice(['active', 'hidden', 'retired']);
const StaffProduct = Type.Object({ ...Product.properties, status: Status });

export const ProductData = Type.Object({ product: Product });
export const ProductQuery = ListQuery({});
export const ProductList = listOf('products', Product);
export const StaffProductData = Type.Object({ product: StaffProduct });

const Amount = Type.String({ maxLength: 20, examples: ['4.00'] });
const Bound = Type.Integer({ minimum: 0, maximum: 1_000_000 });

export const ProductChange = Strict({
  name: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
  description: Type.Optional(Type.String({ maxLength: 5000 })),
  stock: Type.Optional(Nullable(Type.Integer({ minimum: 0, maximum: 1_000_000_000 }))),
  status: Type.Optional(Status),
  prices: Type.Optional(
    Type.Array(Strict({ cycle: CycleName, price: Amount, setup_fee: Type.Optional(Amount) }), {
      maxItems: 6,
    }),
  ),
  options: Type.Optional(
    Type.Array(
      Strict({
        key: Choice(['option1', 'option2', 'option3', 'option4', 'option5', 'option6', 'option7', 'option8']),
        min: Type.Optional(Bound),
        max: Type.Optional(Bound),
        step: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000_000 })),
        unit_price: Type.Optional(Amount),
      }),
      { maxItems: 8 },
    ),
  ),
});
