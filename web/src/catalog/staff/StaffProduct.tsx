import { useParams } from '@tanstack/react-router';
import { createPriceMove } from '../../../../client/generated/fields/createPriceMove.ts';
import { updateProduct } from '../../../../client/generated/fields/updateProduct.ts';
import type { Schema } from '../../../../client/index.ts';
import { client } from '../../data/client.ts';
import { drawnOf } from '../../data/drawn.ts';
import { staffProduct } from '../../data/queries/staff/index.ts';
import { day, money } from '../../text/formats.ts';
import { useText } from '../../text/index.ts';
import {
  Act,
  Bullets,
  Code,
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
  Trial,
  useColumns,
  type Values,
} from '../../ui/index.ts';
import { Cycles, changeProduct, HavingTrial } from './Having.tsx';
import { NewOption, type Option, OptionActs, useBounds } from './OptionForm.tsx';
import { OrderTrial } from './OrderTrial.tsx';
import { Groups } from './StaffProducts.tsx';
import { Traffic } from './TrafficForm.tsx';

type Product = Schema<'StaffProduct'>;

const cycles = updateProduct['prices[].cycle'].choices;

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
  const bounds = useBounds(product.prices[0]?.currency ?? 'EUR');
  const ofOptions = useColumns<Option>(['label', 'option', 'bounds', 'actions'], {
    option: ({ key, name }) => (
      <>
        {key} <Code>{name}</Code>
      </>
    ),
    bounds,
    actions: (option) => <OptionActs product={product} option={option} />,
  });
  const shown = {
    columns: ofOptions,
    keyOf: ({ key }: Option) => key,
    error: null,
    onRetry: () => undefined,
  };
  return (
    <Page title={product.name} aside={<State of={product.status} />}>
      <Acts of={product} />
      <Section title={t('money.product')}>
        <Facts
          of={product}
          names={['id', 'group', 'type', 'moduleId', 'stock', 'downgrade', 'position', 'description']}
          cells={{
            stock: ({ stock, servers }) =>
              servers === null
                ? (stock ?? t('money.endless'))
                : t('money.readyServers', { count: stock ?? 0 }),
            moduleId: ({ moduleId }) => t(`money.module_${moduleId as 1}`),
          }}
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
          empty={<Text c="dimmed">{t('money.noPrices')}</Text>}
        />
      </Section>
      {product.moduleId === 5 && <Traffic of={product} />}
      <Section title={t('money.options')}>
        <NewOption product={product} />
        <List
          {...shown}
          label={t('money.options')}
          items={product.options}
          empty={<Text c="dimmed">{t('money.noOptions')}</Text>}
        />
      </Section>
      {product.retired_options.length > 0 && (
        <Section title={t('money.retiredOptions')}>
          <List {...shown} label={t('money.retiredOptions')} items={product.retired_options} empty={null} />
        </Section>
      )}
      {product.prices.length > 0 && (
        <Section title={t('money.trialOrder')}>
          <OrderTrial of={product} />
        </Section>
      )}
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
        fields={updateProduct}
        label={t('support.change')}
        of={drawnOf('/staff/products/{id}', { path })}
        onAct={(
          { name, description = '', stock, status, group_id: group, position },
          _files,
          ifMatch,
          { product: before },
        ) =>
          client.patch('/staff/products/{id}', {
            ifMatch,
            path,
            body: {
              ...{ name, description },
              ...(before.servers === null && { stock: stock === undefined ? null : Number(stock) }),
              ...{
                status: status as Schema<'ProductStatus'>,
                group_id: Number(group),
                position: Number(position),
              },
            },
          })
        }
      >
        {({ product: now }) => (
          <>
            <Named name="name" value={now.name} />
            <NamedLong name="description" value={now.description} isOptional />
            {now.servers === null && (
              <Named name="stock" value={now.stock} isOptional help={t('money.stockHelp')} />
            )}
            <NamedChoice name="status" value={now.status} />
            <Groups value={now.group.id} />
            <Named name="position" value={now.position} />
          </>
        )}
      </Act>
      <Act
        operation="updateProduct"
        fields={updateProduct}
        label={t('money.setPrice')}
        text={t('money.setPriceText')}
        onAct={(values) => changeProduct(product.id, priceIn(values))}
      >
        <NamedChoice name="cycle" of={cycles} />
        <Named name="price" isOptional as="prices[0].price" />
        <Named name="setup_fee" isOptional as="prices[0].setup_fee" />
        <HavingTrial product={product} change={priceIn} />
      </Act>
      <Act
        operation="createPriceMove"
        fields={createPriceMove}
        label={t('money.movePrices')}
        text={t('money.movePricesText')}
        isDangerous
        onAct={({ from = '' }) => client.post('/staff/products/{id}/price-moves', { path, body: { from } })}
      >
        <Named name="from" type="date" />
        <MoveTrial product={product.id} />
      </Act>
    </Group>
  );
}

/** A price that was set, as the change of the product that it is. */
function priceIn({ cycle, ...values }: Values): Schema<'ProductChange'> {
  const [price, fee] = [values['prices[0].price'] ?? null, values['prices[0].setup_fee']];
  return { prices: [{ cycle: cycle as Schema<'Cycle'>, price, ...(price !== null && { setup_fee: fee }) }] };
}

const shownServices = 5;

/** Whom a move would concern, and what they would pay. */
function MoveTrial({ product: id }: { product: number }) {
  const { t, language } = useText();
  return (
    <Trial
      label={t('money.trialMove')}
      about={['staff', 'products', id]}
      ask={async ({ from = '' }) => {
        const body = { from, dry_run: true };
        return (await client.post('/staff/products/{id}/price-moves', { path: { id }, body })).preview;
      }}
    >
      {(preview) => {
        if (preview?.totals == null) return null;
        const { currency, services, totals } = preview;
        if (totals.services === 0) return <Text size="sm">{t('money.moveNobody')}</Text>;
        return (
          <>
            <Text size="sm">{t('money.moveSome', totals)}</Text>
            <Cycles of={totals.cycles} currency={currency} />
            <Bullets size="sm" mt="xs">
              {services.slice(0, shownServices).map((each) => (
                <Bullets.Item key={each.service.id}>
                  {each.organization.name}, {each.service.hostname ?? each.service.id}:{' '}
                  {t(each.first_on === null ? 'money.moveLineOpen' : 'money.moveLine', {
                    before: money(each.price_before, currency, language),
                    after: money(each.price_after, currency, language),
                    day: each.first_on === null ? '' : day(each.first_on, language),
                  })}
                </Bullets.Item>
              ))}
            </Bullets>
            {totals.services > shownServices && (
              <Text size="sm">{t('money.andServices', { count: totals.services - shownServices })}</Text>
            )}
          </>
        );
      }}
    </Trial>
  );
}
