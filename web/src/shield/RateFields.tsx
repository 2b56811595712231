import { createRateLimiter } from '../../../client/generated/fields/createRateLimiter.ts';
import { choicesOf } from '../data/fields.ts';
import { useText } from '../text/index.ts';
import { Choice, Field, SimpleGrid } from '../ui/index.ts';
import type { Words } from './draft.ts';

interface RateFieldsProps {
  /** What it is now; null: it is a new one. */
  rate: Words['rate'];
  /** What the names of its fields begin with. */
  at?: string;
}

/** So much in a second, and who has that for themselves. */
export function RateFields({ rate, at = '' }: RateFieldsProps) {
  const { t } = useText();
  return (
    <SimpleGrid cols={{ base: 1, xs: 2 }}>
      <Field
        name={`${at}packets_per_second`}
        label={t('shield.packetsPerSecond')}
        help=""
        required={false}
        defaultValue={String(rate?.packets_per_second ?? '')}
      />
      <Field
        name={`${at}bits_per_second`}
        label={t('shield.bitsPerSecond')}
        help={t('shield.oneOfBoth')}
        required={false}
        defaultValue={String(rate?.bits_per_second ?? '')}
      />
      <Choice
        name={`${at}per`}
        label={t('shield.per')}
        help={t('shield.perHelp')}
        defaultValue={rate?.per ?? 'source'}
        choices={choicesOf(createRateLimiter.per, (value) => t(`shield.per_${value}`))}
      />
      <Field
        name={`${at}burst`}
        label={t('shield.burst')}
        help={t('shield.burstHelp')}
        defaultValue={String(rate?.burst ?? 100)}
      />
    </SimpleGrid>
  );
}
