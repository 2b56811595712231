import { useInfiniteQuery } from '@tanstack/react-query';
import { createProduct } from '../../../../client/generated/fields/createProduct.ts';
import type { Schema } from '../../../../client/index.ts';
import { client } from '../../data/client.ts';
import { productGroups, staffProducts } from '../../data/queries/staff/index.ts';
import { useText } from '../../text/index.ts';
import {
  Act,
  LinkTo,
  ListPage,
  Named,
  NamedChoice,
  NamedLong,
  OwnCurrency,
  useColumns,
} from '../../ui/index.ts';

export function StaffProducts() {
  const { t } = useText();
  const columns = useColumns<Schema<'StaffProduct'>>(
    ['name', 'group', 'type', 'status', 'stock', 'position'],
    {
      name: ({ id, name }) => (
        <LinkTo to="/staff/products/$id" params={{ id: String(id) }}>
          {name}
        </LinkTo>
      ),
      stock: ({ stock }) => stock ?? t('money.endless'),
    },
  );
  return (
    <ListPage
      title={t('staff.products')}
      empty={t('empty.products')}
      list={staffProducts}
      filters={[{ name: 'search' }, { name: 'status', of: createProduct.status.choices }]}
      columns={columns}
      aside={
        <Act
          operation="createProduct"
          fields={createProduct}
          label={t('money.newProduct')}
          text={t('money.newProductText')}
          size="sm"
          isFirst
          onAct={({ name = '', type, moduleId, group_id: group, currency = '', description, stock }) =>
            client.post('/staff/products', {
              body: {
                ...{ name, currency, description, status: 'hidden' as const },
                ...{
                  type: type as Schema<'ProductType'>,
                  moduleId: Number(moduleId),
                  group_id: Number(group),
                },
                ...(stock !== undefined && { stock: Number(stock) }),
              },
            })
          }
        >
          <Named name="name" />
          <NamedChoice name="type" />
          <NamedChoice
            name="moduleId"
            value={2}
            help={t('money.moduleHelp')}
            of={([1, 2, 3, 4, 5] as const).map((id) => ({
              value: String(id),
              label: t(`money.module_${id}`),
            }))}
          />
          <Groups />
          <OwnCurrency />
          <NamedLong name="description" isOptional />
          <Named name="stock" isOptional help={t('money.stockHelp')} />
        </Act>
      }
    />
  );
}

export function Groups({ value }: { value?: number }) {
  const { data } = useInfiniteQuery(productGroups());
  const groups = data?.pages.flatMap((page) => page.items) ?? [];
  return (
    <NamedChoice
      key={groups.length}
      name="group_id"
      value={value}
      of={groups.map(({ id, name }) => ({ value: String(id), label: name }))}
    />
  );
}
