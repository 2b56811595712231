import { useInfiniteQuery } from '@tanstack/react-query';
import type { Schema } from '../../../client/index.ts';
import { moreOf, shieldAttacks } from '../data/queries/index.ts';
import { bytes, lasting, moment } from '../text/formats.ts';
import { useText } from '../text/index.ts';
import { LinkTo, List, State, Text } from '../ui/index.ts';
import { plainOf, useSayAttack } from './say.ts';
import { useRates } from './useRates.ts';

type Attack = Schema<'ShieldAttack'>;

/** Attacks on one address, or on all of them. */
export function AttackList({ ip }: { ip?: string }) {
  const { t, language } = useText();
  const say = useSayAttack();
  const { inSecond } = useRates();
  const found = useInfiniteQuery(shieldAttacks(ip));
  return (
    <List
      label={t('shield.attacks')}
      items={found.data?.pages.flatMap(({ attacks }) => attacks)}
      keyOf={({ attack_id }) => attack_id}
      columns={[
        {
          name: t('shield.attack'),
          cell: (attack) => (
            <LinkTo to="/shield/attacks/$id" params={{ id: attack.attack_id }}>
              {say(attack)}
            </LinkTo>
          ),
        },
        ...(ip === undefined
          ? [
              {
                name: t('services.address'),
                cell: ({ dest }: Attack) => (
                  <LinkTo to="/shield/addresses/$ip" params={{ ip: plainOf(dest) }}>
                    {plainOf(dest)}
                  </LinkTo>
                ),
              },
            ]
          : []),
        {
          name: t('services.status'),
          cell: ({ ended_at }) => <State of={ended_at === '' ? 'attack_on' : 'attack_over'} />,
        },
        { name: t('shield.began'), cell: ({ started_at }) => moment(String(started_at), language) },
        { name: t('shield.lasted'), cell: ({ duration }) => lasting(duration, language) },
        { name: t('shield.atItsPeak'), isNumber: true, cell: ({ pps }) => inSecond(pps) },
        {
          name: t('shield.volume'),
          isNumber: true,
          cell: ({ counters }) => bytes(counters.bytes, language),
        },
      ]}
      error={found.error}
      failed={t('shield.attacksFailed')}
      onRetry={() => void found.refetch()}
      empty={
        <>
          <Text fw={600}>{t('shield.noAttacks')}</Text>
          <Text c="dimmed" ta="center">
            {t('shield.noAttacksText')}
          </Text>
        </>
      }
      more={moreOf(found)}
    />
  );
}
