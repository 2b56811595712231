import { bits, compact } from '../text/formats.ts';
import { useText } from '../text/index.ts';
import type { Words } from './draft.ts';

/** Says how much comes in a second, and how much there was in all. */
export function useRates() {
  const { t, language } = useText();
  const count = (value: number) => compact(value, language);
  return {
    count,
    packets: (value: number) => t('shield.packets', { count: value, packets: count(value) }),
    inSecond: (packets: number) =>
      t('shield.packetsInSecond', {
        packets: count(packets < 10 ? Math.round(packets * 10) / 10 : Math.round(packets)),
      }),
    bitsInSecond: (value: number) => bits(value, language),
  };
}

/** Says a rate, of packets or bits or both. */
export function useSayRate(): (
  rate: Pick<NonNullable<Words['rate']>, 'packets_per_second' | 'bits_per_second'>,
) => string {
  const { inSecond, bitsInSecond } = useRates();
  return ({ packets_per_second: packets, bits_per_second: wanted }) =>
    [packets !== null && inSecond(packets), wanted !== null && bitsInSecond(wanted)]
      .filter(Boolean)
      .join(' · ');
}
