import { Type } from 'typebox';
import { Id, ListQuery, listOf, Nullable, named, SortBy, Strict } from '../platform/http/index.ts';
import { Level, Mitigation, Mode, type Thresholds, thresholdsOf } from './schema.ts';

const ShieldProduct = named(
  'ShieldProduct',
  Type.Object({
    id: Id,
    name: Type.String(),
    level: Nullable(Level),
    mode: Nullable(Mode),
    mitigation: Nullable(Mitigation),
    thresholds: Type.Unsafe<Thresholds>(
      Type.Object(
        thresholdsOf((schema) => schema),
        { description: 'Instead of the level’s, by kind' },
      ),
    ),
  }),
  'What is so of the addresses of machines of a product until their owner says otherwise; null: as for all others',
);
export const ProductQuery = ListQuery({ sort: SortBy(['id'], 'id') });
export const ProductList = named('ShieldProductList', listOf('products', ShieldProduct));
export const ProductData = Type.Object({ product: ShieldProduct });
export const ProductChange = named(
  'ShieldProductChange',
  Strict({
    level: Type.Optional(Nullable(Level)),
    mode: Type.Optional(Nullable(Mode)),
    mitigation: Type.Optional(Nullable(Mitigation)),
    thresholds: Type.Optional(Nullable(Type.Unsafe<Thresholds>(Strict(thresholdsOf(Nullable))))),
  }),
);
