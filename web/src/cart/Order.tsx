import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import type { Schema } from '../../../client/index.ts';
import { client } from '../data/client.ts';
import { products, quote, session } from '../data/queries/index.ts';
import { money } from '../text/formats.ts';
import { useText } from '../text/index.ts';
import { trafficTerms } from '../text/trafficTerms.ts';
import {
  Alert,
  Amount,
  Beside,
  Button,
  Field,
  Form,
  Group,
  NewPassword,
  Page,
  Refusal,
  Section,
  SimpleGrid,
  Skeleton,
  Text,
  TextInput,
  Tiles,
  useDebouncedCallback,
  useDebouncedValue,
  useSentence,
} from '../ui/index.ts';
import { Keys } from './Keys.tsx';
import { Price } from './Price.tsx';
import { cartOf, chosenOf, isServer, serversOf, standIns, type Wanted } from './wanted.ts';

type Product = Schema<'Product'>;

/** Everything about an order on one page; what is chosen stands in the address. */
export function Order() {
  const { t } = useText();
  const read = useQuery(products);
  const wanted = useSearch({ from: '/in/order' });
  const { data: signedIn } = useQuery(session);
  const mayOrder = signedIn?.organization?.permissions.includes('order') === true;
  const product = read.data?.find(({ id }) => id === wanted.product) ?? read.data?.[0];
  return (
    <Page title={t('order.title')}>
      {read.error !== null && (
        <Refusal title={t('order.failed')} error={read.error} onRetry={() => void read.refetch()} />
      )}
      {read.isPending && <Skeleton height={480} />}
      {read.data?.length === 0 && <Text fw={600}>{t('order.nothing')}</Text>}
      {!mayOrder && <Alert color="orange">{t('error.forbidden')}</Alert>}
      {read.data !== undefined && product !== undefined && mayOrder && (
        <Configured key={product.id} all={read.data} product={product} wanted={wanted} />
      )}
    </Page>
  );
}

function Configured({ all, product, wanted }: { all: Product[]; product: Product; wanted: Wanted }) {
  const { t, language } = useText();
  const navigate = useNavigate({ from: '/order' });
  const queries = useQueryClient();
  const change = (part: Partial<Wanted>) =>
    void navigate({
      search: (before: Wanted) => ({ ...before, ...part }),
      replace: true,
      resetScroll: false,
    });
  const rename = useDebouncedCallback((name: string) => change({ name: name || undefined }), 300);

  const price = product.prices.find(({ cycle }) => cycle === wanted.cycle) ?? product.prices[0];
  const cycle = price?.cycle ?? 'monthly';
  const options = chosenOf(product, wanted);
  const key = { id: product.id, cycle, options, coupon: wanted.coupon };
  // A slider that is drawn asks once, where it stops.
  const [asked] = useDebouncedValue(key, 200);
  const stand = useMemo(() => standIns(product), [product]);
  const priced = useQuery(quote(asked, () => cartOf(product, { ...stand, ...asked })));
  const isAsking = priced.isFetching || JSON.stringify(asked) !== JSON.stringify(key);
  const total = priced.data === undefined ? null : money(priced.data.total, priced.data.currency, language);

  const server = isServer(product);
  const named = product.type === 'Domain' ? 'products[0].domain' : 'products[0].options.domain';
  const password = 'products[0].options.password';
  return (
    <Beside
      label={t('order.price')}
      always={<Price priced={priced.data} error={priced.error} isAsking={isAsking} />}
    >
      <Form
        submit={total === null || isAsking ? t('order.submitPlain') : t('order.submit', { total })}
        onSubmit={async (values) => {
          const given = { name: values[named], password: values[password] };
          const { invoice_id: id } = await client.post('/cart/checkout/invoice', {
            body: cartOf(product, { ...key, ...given }),
          });
          for (const kind of ['invoices', 'services', 'products'])
            void queries.invalidateQueries({ queryKey: [kind] });
          await navigate({ to: '/invoices/$id', params: { id: String(id) } });
        }}
      >
        <Section title={t('order.plan')}>
          <Products all={all} product={product} onChoose={(id) => change({ product: id })} />
          <Tiles
            name="products[0].cycle"
            legend={t('order.cycle')}
            tiles={product.prices.map((each) => ({
              value: each.cycle,
              label: t(`cycle.${each.cycle}`),
              note: t('order.from', { price: money(each.price, each.currency, language) }),
            }))}
            value={cycle}
            onChoose={(value) => change({ cycle: value })}
          />
        </Section>
        {product.options.length > 0 && (
          <Section title={t('order.configuration')}>
            <Options product={product} options={options} onChange={change} />
          </Section>
        )}
        <Section title={t('order.access')}>
          <Field
            name={named}
            label={t(product.type === 'Domain' ? 'order.domain' : 'order.hostname')}
            help={t(product.type === 'Domain' ? 'order.domainHelp' : 'order.hostnameHelp')}
            required={server || product.type === 'Domain'}
            autoComplete="off"
            defaultValue={wanted.name}
            onType={rename}
          />
          {server && (
            <>
              <NewPassword name={password} label={t('order.password')} help={t('order.passwordHelp')} />
              <Keys />
            </>
          )}
          <Coupon product={product} given={key} onTake={(coupon) => change({ coupon })} />
        </Section>
      </Form>
    </Beside>
  );
}

/** Up to here a small number says how much is left. */
const fewLeft = 10;

interface ProductsProps {
  all: Product[];
  product: Product;
  onChoose: (id: number) => void;
}

function Products({ all, product, onChoose }: ProductsProps) {
  const { t } = useText();
  const left = ({ stock }: Product) => {
    if (stock === 0) return t('order.soldOut');
    return stock !== null && stock <= fewLeft ? t('order.left', { count: stock }) : null;
  };
  return (
    <Tiles
      name="products[0].id"
      legend={t('order.product')}
      tiles={all.map((each) => ({
        value: String(each.id),
        label: each.name,
        note: [each.description, left(each)].filter(Boolean).join(' · '),
        isOut: each.stock === 0,
      }))}
      value={String(product.id)}
      onChoose={(value) => onChoose(Number(value))}
    />
  );
}

interface OptionsProps {
  product: Product;
  options: Record<string, number | string>;
  onChange: (part: Partial<Wanted>) => void;
}

/** What can be chosen of a product: first the kinds of things, as its system and its place, then how much of each. */
function Options({ product, options, onChange }: OptionsProps) {
  const { t, language } = useText();
  const currency = product.prices[0]?.currency ?? null;
  // A server is chosen as it is, and not by how much of each it has.
  const servers = serversOf(product);
  const others = product.options.filter(({ key }) => !servers.some((server) => key in server.options));
  const amounts = others.filter(({ kind }) => kind === 'integer');
  const choices = others.filter(({ kind }) => kind === 'choice');
  const more = (amount: string) => t('order.more', { price: money(amount, currency, language) });
  return (
    <>
      {servers.length > 0 && <Servers product={product} options={options} onChange={onChange} />}
      {product.traffic !== null && (
        <Text size="sm">
          {t('bandwidth.traffic')}: {trafficTerms(product.traffic, t, language)}
        </Text>
      )}
      {choices.map((option) => (
        <Tiles
          key={option.key}
          name={`products[0].options.${option.key}`}
          legend={option.label}
          tiles={option.values.map(({ value, label, price }) => ({
            value,
            label,
            note: Number(price) === 0 ? undefined : more(price),
          }))}
          value={String(options[option.key])}
          onChoose={(value) => onChange({ [option.key]: value })}
        />
      ))}
      <SimpleGrid cols={{ base: 1, xs: 2 }}>
        {amounts.map((option) => {
          const { key, label, min, max, step, unit_price: unit } = option;
          const bounds = t('order.bounds', { min: min ?? 0, max: max ?? '' });
          const dear = unit !== null && Number(unit) > 0;
          // The price of the product has the least of it.
          const over = (amount: string) =>
            min ? t('order.moreThan', { min, price: money(amount, currency, language) }) : more(amount);
          return (
            <Amount
              key={key}
              name={`products[0].options.${key}`}
              label={label}
              help={dear ? `${bounds} · ${over(unit)}` : bounds}
              min={min ?? 0}
              max={max ?? Number.MAX_SAFE_INTEGER}
              step={step ?? 1}
              value={Number(options[key])}
              onChange={(value) => onChange({ [key]: value })}
            />
          );
        })}
      </SimpleGrid>
    </>
  );
}

/** The servers of a product, each with what it has and how many are left of it. */
function Servers({ product, options, onChange }: OptionsProps) {
  const { t } = useText();
  const servers = serversOf(product);
  const chosen = servers.find((server) =>
    Object.entries(server.options).every(([key, value]) => options[key] === value),
  );
  const speeds = product.options.find(({ key }) => key === 'option7')?.values ?? [];
  const label = ({
    option1: memory,
    option2: storage,
    option7: speed,
    option8: location,
  }: Record<string, unknown>) => [
    memory !== undefined && t('order.memoryOf', { gb: Number(memory) }),
    storage !== undefined && t('order.storageOf', { gb: Number(storage) }),
    speeds.find(({ value }) => value === speed)?.label,
    location,
  ];
  return (
    <Tiles
      name={`products[0].options.${Object.keys(servers[0]?.options ?? {})[0]}`}
      legend={t('order.server')}
      tiles={servers.map((server) => ({
        value: server.key,
        label: label(server.options).filter(Boolean).join(' · '),
        note:
          server.stock === 0
            ? t('order.soldOut')
            : server.stock <= fewLeft
              ? t('order.left', { count: server.stock })
              : undefined,
        isOut: server.stock === 0,
      }))}
      value={chosen?.key}
      onChoose={(key) => onChange(servers.find((server) => server.key === key)?.options ?? {})}
    />
  );
}

interface CouponProps {
  product: Product;
  given: Omit<Parameters<typeof cartOf>[1], 'name' | 'password'>;
  onTake: (coupon: string | undefined) => void;
}

/** A coupon counts once it was accepted; one that is not leaves the price as it is. */
function Coupon({ product, given, onTake }: CouponProps) {
  const { t } = useText();
  const sentence = useSentence();
  const [typed, setTyped] = useState(given.coupon ?? '');
  const tryOut = useMutation({
    mutationFn: (coupon: string) =>
      client.post('/cart/quote', { body: cartOf(product, { ...standIns(product), ...given, coupon }) }),
    onSuccess: (_answer, coupon) => onTake(coupon),
  });
  const take = () => (typed === '' ? onTake(undefined) : tryOut.mutate(typed));
  return (
    <Group align="end" gap="sm">
      <TextInput
        label={t('order.coupon')}
        value={typed}
        autoComplete="off"
        error={tryOut.error === null ? undefined : sentence(tryOut.error)}
        description={given.coupon === undefined ? undefined : t('order.couponTaken', { code: given.coupon })}
        onChange={(event) => setTyped(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Enter') return;
          event.preventDefault(); // It would order.
          take();
        }}
      />
      <Button variant="default" loading={tryOut.isPending} onClick={take}>
        {t('order.takeCoupon')}
      </Button>
    </Group>
  );
}
