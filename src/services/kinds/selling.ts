import type { Selling } from '../../catalog/index.ts';
import { unorderable as unorderableBy } from '../../fleet/index.ts';
import { statement } from '../../platform/index.ts';
import { havingOf } from '../priceMoves/preview.ts';
import { kindOf } from './table.ts';

const sold = statement<{ sold: boolean }, { productId: number }>(
  'services.sold',
  `select exists (select 1 from services where product_id = :productId)
     or exists (select 1 from service_changes where product_id = :productId) as sold`,
);

/** What services know of the products that they are made of. */
export const selling: Selling = {
  problems: ({ moduleId, options, servers }) => {
    const kind = kindOf(moduleId, servers !== null);
    const any = Object.fromEntries(
      options.map((option) => [option.key, option.kind === 'choice' ? option.choices[0]?.value : option.min]),
    );
    const missing = kind.missing(any).map((key) => `${kind.type} needs ${key}, ${kind.aboutOf(key)}`);
    const unreadable = options.flatMap((option) => {
      const values = option.kind === 'choice' ? option.choices.map(({ value }) => value) : [option.min];
      const wrong = values.filter((value) => kind.unreadable({ [option.key]: value }).length > 0);
      return wrong.map(
        (value) =>
          `no ${kind.type} can be delivered with ${option.key} ${value} (${kind.aboutOf(option.key)})`,
      );
    });
    const unorderable = [...new Set((servers ?? []).flatMap((offer) => unorderableBy(options, offer)))];
    return [...missing, ...unreadable, ...unorderable].map((message) => ({
      field: 'options',
      message: `${message}; change the options, or keep the product hidden`,
    }));
  },
  having: havingOf,
  isSold: async (ctx, productId) => (await ctx.db.one(sold, { productId })).sold,
};
