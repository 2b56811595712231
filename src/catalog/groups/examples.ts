import { type Example, onlyPage } from '../../platform/http/index.ts';

const group = { id: 5, name: 'Mail', position: 5, products: 0 };

/** A request and its answer for each operation, parts of one story. */
export const examples = {
  createProductGroup: { body: { name: 'Mail' }, data: { product_group: group } },
  getProductGroup: { params: { id: 5 }, data: { product_group: group } },
  updateProductGroup: {
    params: { id: 5 },
    body: { name: 'Mail and groupware', position: 2 },
    data: { product_group: { ...group, name: 'Mail and groupware', position: 2 } },
  },
  listProductGroups: { query: { limit: 10 }, data: { product_groups: [group], ...onlyPage(1) } },
} satisfies Record<string, Example>;
