import type { Schema } from '../../../../client/index.ts';
import { client } from '../../data/client.ts';
import { money } from '../../text/formats.ts';
import { useText } from '../../text/index.ts';
import { Text, Trial, useWord, type Values } from '../../ui/index.ts';

type Change = Schema<'ProductChange'>;

export function changeProduct(id: number, body: Change, ifMatch?: string) {
  return client.patch('/staff/products/{id}', { path: { id }, body, ifMatch });
}

export function previewProduct(id: number, body: Schema<'PreviewedProduct'>) {
  return client.post('/staff/products/{id}/preview', { path: { id }, body });
}

interface HavingTrialProps {
  product: { id: number; prices: readonly { currency: string }[] };
  change: (values: Values) => Change;
}

/** In a form that changes a product: what becomes of those who have it. */
export function HavingTrial({ product, change }: HavingTrialProps) {
  const { t } = useText();
  return (
    <Trial
      label={t('money.trialHaving')}
      about={['staff', 'products', product.id]}
      ask={(values) => previewProduct(product.id, change(values))}
    >
      {({ having, product: { prices } }) =>
        having !== null && <Having of={having} currency={prices[0]?.currency ?? null} />
      }
    </Trial>
  );
}

interface HavingProps {
  of: Schema<'ServicesOfProduct'>;
  currency: string | null;
}

function Having({ of: { services, differing, cycles }, currency }: HavingProps) {
  const { t } = useText();
  if (services === 0) return <Text size="sm">{t('money.havingNone')}</Text>;
  return (
    <>
      <Text size="sm">{t('money.having', { services })}</Text>
      <Text size="sm">{differing === 0 ? t('money.havingSame') : t('money.differing', { differing })}</Text>
      <Cycles of={cycles} currency={currency} />
    </>
  );
}

interface CyclesProps {
  of: Schema<'ServicesOfProduct'>['cycles'];
  currency: string | null;
}

/** What services pay together, before and after. */
export function Cycles({ of: cycles, currency }: CyclesProps) {
  const { t, language } = useText();
  const word = useWord();
  return cycles.map(({ cycle, services, price_before: before, price_after: after }) => (
    <Text size="sm" key={cycle}>
      {t('money.cycleLine', {
        ...{ cycle: word(cycle), services },
        ...{ before: money(before, currency, language), after: money(after, currency, language) },
      })}
    </Text>
  ));
}
