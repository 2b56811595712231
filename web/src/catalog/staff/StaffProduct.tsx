import { useParams } from '@tanstack/react-router';
import type { Schema } from '../../../../client/index.ts';
import { client } from '../../data/client.ts';
import { staffProduct } from '../../data/queries/staff/index.ts';
import { useText } from '../../text/index.ts';
import {
  Act,
  Facts,
  Group,
  List,
  Named,
  NamedChoice,
  NamedLong,
  Page,
  Section,
  State,
  Text,
  Thing,
  useColumns,
} from '../../ui/index.ts';
import { Groups, productStates } from './StaffProducts.tsx';

type Product = Schema<'StaffProduct'>;

const cycles = ['monthly', 'quarterly', 'semiannually', 'annually', 'biennially', 'triennially'] as const;

export function StaffProduct() {
  const { t } = useText();
  const { id = '' } = useParams({ strict: false });
  return (
    <Thing title={t('staff.products')} query={staffProduct({ id: Number(id) })}>
      {({ product }) => <Shown of={product} />}
    </Thing>
  );
}

function Shown({ of: product }: { of: Product }) {
  const { t } = useText();
  const ofPrices = useColumns<Product['prices'][number]>(['cycle', 'price', 'setup_fee']);
  const ofOptions = useColumns<Product['options'][number]>(
    ['label', 'name', 'kind', 'min', 'max', 'unit_price', 'values'],
    {
      values: ({ values }) => values.map(({ label }) => label).join(', ') || '–',
    },
  );
  return (
    <Page title={product.name} aside={<State of={product.status} />}>
      <Acts of={product} />
      <Section title={t('money.product')}>
        <Facts
          of={product}
          names={['id', 'group', 'type', 'moduleId', 'stock', 'downgrade', 'position', 'description']}
          cells={{ stock: ({ stock }) => stock ?? t('money.endless') }}
        />
      </Section>
      <Section title={t('money.prices')}>
        <List
          label={t('money.prices')}
          items={product.prices}
          keyOf={({ cycle }) => cycle}
          columns={ofPrices}
          error={null}
          onRetry={() => undefined}
          empty={<Text c="dimmed">{t('staff.nothing')}</Text>}
        />
      </Section>
      <Section title={t('money.options')}>
        <List
          label={t('money.options')}
          items={product.options}
          keyOf={({ key }) => key}
          columns={ofOptions}
          error={null}
          onRetry={() => undefined}
          empty={<Text c="dimmed">{t('staff.nothing')}</Text>}
        />
      </Section>
    </Page>
  );
}

function Acts({ of: product }: { of: Product }) {
  const { t } = useText();
  const path = { id: product.id };
  return (
    <Group gap="xs">
      <Act
        operation="updateProduct"
        label={t('support.change')}
        onAct={({ name, description = '', stock, status, group_id: group, position }) =>
          client.patch('/staff/products/{id}', {
            path,
            body: {
              ...{ name, description, stock: stock === undefined ? null : Number(stock) },
              ...{
                status: status as Schema<'ProductStatus'>,
                group_id: Number(group),
                position: Number(position),
              },
            },
          })
        }
      >
        <Named name="name" value={product.name} />
        <NamedLong name="description" value={product.description} isOptional />
        <Named name="stock" value={product.stock} isOptional help={t('money.stockHelp')} />
        <NamedChoice name="status" of={productStates} value={product.status} />
        <Groups value={product.group.id} />
        <Named name="position" value={product.position} />
      </Act>
      <Act
        operation="updateProduct"
        label={t('money.setPrice')}
        text={t('money.setPriceText')}
        onAct={({ cycle, price, setup_fee: fee }) =>
          client.patch('/staff/products/{id}', {
            path,
            body: { prices: [{ cycle: cycle as Schema<'Cycle'>, price: price ?? null, setup_fee: fee }] },
          })
        }
      >
        <NamedChoice name="cycle" of={cycles} />
        <Named name="price" isOptional />
        <Named name="setup_fee" isOptional />
      </Act>
      <Act
        operation="createPriceMove"
        label={t('money.movePrices')}
        text={t('money.movePricesText')}
        isDangerous
        onAct={({ from = '' }) => client.post('/staff/products/{id}/price-moves', { path, body: { from } })}
      >
        <Named name="from" type="date" />
      </Act>
    </Group>
  );
}
