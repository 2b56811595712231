import type { Schema } from '../../../client/index.ts';
import { money } from '../text/formats.ts';
import { useText } from '../text/index.ts';
import { Group, Refusal, Skeleton, Stack, Text } from '../ui/index.ts';

interface PriceProps {
  priced: Schema<'Quote'> | undefined;
  error: unknown;
  /** The price of what is chosen now is on its way. */
  isAsking: boolean;
}

/** What the invoice will ask for. */
export function Price({ priced, error, isAsking }: PriceProps) {
  const { t, language } = useText();
  if (error) return <Refusal title={t('order.noPrice')} error={error} />;
  if (priced === undefined) return <Skeleton height={64} aria-busy />;
  const [item] = priced.items;
  const amount = (value: string) => money(value, priced.currency, language);
  const lines = [
    ['order.setup', item?.setup_fee ?? '0'],
    ['order.discount', priced.discount],
    ['order.tax', priced.tax],
  ] as const;
  return (
    <div aria-live="polite" aria-busy={isAsking} className={isAsking ? 'aging' : undefined}>
      <Stack gap={4} visibleFrom="md">
        {item !== undefined && <Line name={t(`cycle.${item.cycle}`)} value={amount(item.price)} />}
        {lines
          .filter(([, value]) => Number(value) !== 0)
          .map(([name, value]) => (
            <Line key={name} name={t(name)} value={amount(value)} />
          ))}
      </Stack>
      <Group justify="space-between" wrap="nowrap" align="baseline">
        <Text fw={600}>{t('order.total')}</Text>
        <Text fw={700} size="xl" data-total style={{ fontVariantNumeric: 'tabular-nums' }}>
          {amount(priced.total)}
        </Text>
      </Group>
      <Text size="sm" c="dimmed" visibleFrom="md">
        {t('order.equal')}
      </Text>
    </div>
  );
}

function Line({ name, value }: { name: string; value: string }) {
  return (
    <Group justify="space-between" wrap="nowrap">
      <Text size="sm">{name}</Text>
      <Text size="sm" style={{ fontVariantNumeric: 'tabular-nums' }}>
        {value}
      </Text>
    </Group>
  );
}
