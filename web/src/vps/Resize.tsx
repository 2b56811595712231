import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import type { Schema } from '../../../client/index.ts';
import { client } from '../data/client.ts';
import { product, service } from '../data/queries/index.ts';
import { money } from '../text/formats.ts';
import { useText } from '../text/index.ts';
import {
  Alert,
  Amount,
  Beside,
  Fact,
  Form,
  Refusal,
  Section,
  SimpleGrid,
  Skeleton,
  Text,
  Tiles,
  useDebouncedValue,
} from '../ui/index.ts';

const sizes = ['option1', 'option2', 'option3', 'option4', 'option5', 'option7'] as const;
type Size = (typeof sizes)[number];
type Wish = Partial<Record<Size, number | string>>;

/** Another size, with what it costs before it is ordered. */
export function Resize() {
  const { t, language } = useText();
  const { id: given } = useParams({ from: '/in/services/$id' });
  const id = Number(given);
  const queries = useQueryClient();
  const navigate = useNavigate();
  const { data: owned } = useQuery(service(id));
  const sold = useQuery({ ...product(owned?.product.id ?? 0), enabled: owned !== undefined });
  const [wish, setWish] = useState<Wish>({});
  const [isDone, setDone] = useState(false);
  const [asked] = useDebouncedValue(wish, 200);
  const isWished = Object.keys(asked).length > 0;
  // A wish is of the options of the description, as the product's bounds say them.
  const upgrade = (body: Schema<'VpsUpgrade'>) =>
    client.post('/dashboard/services/{id}/upgrade-vps', { path: { id }, body });
  const terms = useQuery({
    queryKey: ['services', id, 'upgrade-vps', asked],
    queryFn: () => upgrade({ ...(asked as Schema<'VpsUpgrade'>), dry_run: true }),
    enabled: isWished,
    placeholderData: keepPreviousData,
  });
  if (owned === undefined || sold.isPending) return <Skeleton height={320} />;
  if (sold.data === undefined) return <Refusal error={sold.error} onRetry={() => void sold.refetch()} />;
  const action = owned.actions.upgrade_vps;
  if (!action.allowed && !isDone)
    return (
      <Section title={t('resize.title')}>
        <Alert color="orange">{action.reason}</Alert>
      </Section>
    );
  const options = sold.data.options.filter(({ key }) => sizes.some((size) => size === key));
  const has = (key: Size) => wish[key] ?? owned.options[key];
  const choose = (key: Size, value: number | string) => {
    const { [key]: _, ...rest } = wish;
    setDone(false);
    setWish(value === owned.options[key] ? rest : { ...rest, [key]: value });
  };
  const isAsking = terms.isFetching || asked !== wish;
  const amount = (value: string) => money(value, owned.currency, language);
  return (
    <Beside
      label={t('order.price')}
      always={
        <>
          {!isWished && <Text c="dimmed">{isDone ? t('resize.done') : t('resize.choose')}</Text>}
          {isWished && terms.error !== null && <Refusal error={terms.error} />}
          {isWished && terms.error === null && terms.data === undefined && <Skeleton height={64} />}
          {isWished && terms.error === null && terms.data !== undefined && (
            <div aria-live="polite" aria-busy={isAsking} className={isAsking ? 'aging' : undefined}>
              <Fact name={t('order.total')}>
                <Text fw={700} size="xl" data-total>
                  {amount(terms.data.total)}
                </Text>
              </Fact>
              <Fact name={t('resize.newPrice')}>
                {t('resize.instead', {
                  price: amount(terms.data.new_price),
                  before: amount(owned.price),
                  cycle: t(`cycle.${owned.billingCycle}`),
                })}
              </Fact>
              <Text size="sm" c="dimmed">
                {t(terms.data.effective === 'now' ? 'resize.now' : 'resize.onPayment')}
              </Text>
            </div>
          )}
        </>
      }
    >
      <Form
        submit={t('resize.submit')}
        isReady={isWished && !isAsking && terms.error === null}
        onSubmit={async () => {
          const { invoice_id: invoice } = await upgrade(wish as Schema<'VpsUpgrade'>);
          for (const kind of ['services', 'vps', 'invoices'])
            void queries.invalidateQueries({ queryKey: [kind] });
          if (invoice !== null) return navigate({ to: '/invoices/$id', params: { id: String(invoice) } });
          setWish({});
          setDone(true);
        }}
      >
        <Section title={t('resize.title')}>
          <Text size="sm" c="dimmed">
            {t('resize.text')}
          </Text>
          <SimpleGrid cols={{ base: 1, xs: 2 }}>
            {options
              .filter(({ kind }) => kind === 'integer')
              .map(({ key, label, min, max, step }) => (
                <Amount
                  key={key}
                  name={key}
                  label={label}
                  help={t('order.bounds', { min: min ?? 0, max: max ?? '' })}
                  min={min ?? 0}
                  max={max ?? Number.MAX_SAFE_INTEGER}
                  step={step ?? 1}
                  value={Number(has(key as Size) ?? min ?? 0)}
                  onChange={(value) => choose(key as Size, value)}
                />
              ))}
          </SimpleGrid>
          {options
            .filter(({ kind, values }) => kind === 'choice' && values.length > 1)
            .map(({ key, label, values }) => (
              <Tiles
                key={key}
                name={key}
                legend={label}
                tiles={values.map((each) => ({ value: each.value, label: each.label }))}
                value={String(has(key as Size))}
                onChoose={(value) => choose(key as Size, value)}
              />
            ))}
        </Section>
      </Form>
    </Beside>
  );
}
