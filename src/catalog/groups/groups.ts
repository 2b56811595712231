import { record } from '../../events/index.ts';
import { type ListRequest, listData, pagedList } from '../../platform/http/index.ts';
import {
  attempt,
  type Context,
  type ErrorDetail,
  fail,
  isDuplicate,
  requireRow,
  statement,
  type TxContext,
  transaction,
} from '../../platform/index.ts';
import type { GroupChange } from '../change.ts';
import { groupCreated, groupUpdated } from '../events.ts';
import { placeProducts } from '../write.ts';

/** A heading that products are listed under. */
interface GroupRow {
  id: number;
  name: string;
  position: number;
  products: number;
}

const selectGroup = `
  select g.id, g.name, g.position, (select count(*) from products p where p.group_id = g.id) as products
  from product_groups g`;
const groups = pagedList<GroupRow>({
  name: 'catalog.groups',
  from: 'product_groups g',
  select: selectGroup,
  key: { by: 'g.id', type: 'bigint', of: (row) => row.id },
  sorts: { position: { by: 'g.position', type: 'bigint', of: (row) => row.position } },
  order: 'position',
});
const groupById = statement<GroupRow, { id: number }>('catalog.group', `${selectGroup} where g.id = :id`);
const lockById = statement<{ id: number }, { id: number }>(
  'catalog.lockGroup',
  'select id from product_groups where id = :id for update',
);
const insertGroup = statement<{ id: number }, { name: string; position: number | null }>(
  'catalog.insertGroup',
  `insert into product_groups (name, position)
   values (:name, coalesce(:position::int,
     (select least(coalesce(max(o.position), 0) + 1, 999999) from product_groups o)))
   returning id`,
);
const updateGroup = statement<never, { id: number; name: string; position: number }>(
  'catalog.updateGroup',
  'update product_groups set name = :name, position = :position where id = :id',
);

/** The group with this id, or null. */
export async function findGroup(ctx: Context, id: number): Promise<{ id: number; name: string } | null> {
  const row = await ctx.db.maybe(groupById, { id });
  return row === null ? null : { id: row.id, name: row.name };
}

/** What is said of a product whose group is not there. */
export function noGroup(id: number | undefined): ErrorDetail {
  return {
    field: 'group_id',
    message: `there is no product group ${id}; POST /staff/product-groups makes one`,
  };
}

/** Nobody changes the group until the transaction ends. */
export async function lockGroup(tx: TxContext, id: number): Promise<void> {
  await tx.db.maybe(lockById, { id });
}

export async function listGroups(ctx: Context, query: ListRequest) {
  const { rows, at } = await groups(ctx, query);
  return listData('product_groups', rows, at);
}

export async function readGroup(ctx: Context, id: number) {
  return { product_group: await requireRow(ctx, groupById, { id }) };
}

/** Makes a group. `conflict` when there is one of that name. */
export async function createGroup(ctx: Context, { name, position }: GroupChange & { name: string }) {
  return transaction(ctx, 'catalog.createGroup', async (tx) => {
    const { id } = await named(tx, name.trim(), (inner) =>
      inner.db.one(insertGroup, { name: name.trim(), position: position ?? null }),
    );
    await record(tx, groupCreated, {
      subject: { type: 'product_group', id },
      organizationId: null,
      data: { name: name.trim() },
    });
    return readGroup(tx, id);
  });
}

/** Renames a group, or puts it elsewhere; its products go along. `not_found`, `conflict`. */
export async function changeGroup(ctx: Context, id: number, change: GroupChange) {
  return transaction(ctx, 'catalog.changeGroup', async (tx) => {
    await lockGroup(tx, id);
    const { name, position } = await requireRow(tx, groupById, { id });
    const after = { name: change.name?.trim() ?? name, position: change.position ?? position };
    await named(tx, after.name, (inner) => inner.db.run(updateGroup, { id, ...after }));
    await placeProducts(tx, id);
    await record(tx, groupUpdated, {
      subject: { type: 'product_group', id },
      organizationId: null,
      data: { change, before: { name, position } },
    });
    return readGroup(tx, id);
  });
}

function named<T>(tx: TxContext, name: string, work: (tx: TxContext) => Promise<T>): Promise<T> {
  return attempt(tx, work).catch((error: unknown) => {
    if (!isDuplicate(error, 'product_groups_name_key')) throw error;
    throw fail('conflict', { message: `There is a product group ${name} already` });
  });
}
