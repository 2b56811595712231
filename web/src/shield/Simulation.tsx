import type { DataOf, OperationAt, Schema } from '../../../client/index.ts';
import { bytes, moment } from '../text/formats.ts';
import { useText } from '../text/index.ts';
import { Fact, List, Section, SimpleGrid, Stack, Text } from '../ui/index.ts';
import type { DraftRule } from './draft.ts';
import { useSayRule } from './say.ts';
import { TopList } from './TopList.tsx';
import { useRates } from './useRates.ts';

type Simulated = DataOf<OperationAt<'post', '/shield/v2/rules/simulate'>>;

interface SimulationProps {
  simulated: Simulated;
  /** What was simulated, in the order in which it was sent. */
  rules: readonly DraftRule[];
  /** The draft has been changed since. */
  isOld: boolean;
}

/** What a draft would have done to the packets of the last hour. */
export function Simulation({ simulated, rules, isOld }: SimulationProps) {
  const { t, language } = useText();
  const say = useSayRule();
  const { packets } = useRates();
  const { since, until, certainty, total, unmatched, newly_dropped, newly_permitted } = simulated;
  const named = [
    ...simulated.rules.map((tally, nth) => {
      const rule = rules[nth];
      return {
        key: String(nth),
        name: rule === undefined ? '' : say.whole(rule),
        action: tally.action,
        tally,
      };
    }),
    { key: 'unmatched', name: t('shield.unmatched'), action: null, tally: unmatched },
  ];
  const nothingKnown = certainty.level === 'none';
  return (
    <Section title={t('shield.simulation')}>
      <Text size="sm" role="status">
        {isOld
          ? t('shield.simulationOld')
          : t('shield.simulationOf', {
              since: moment(String(since), language),
              until: moment(String(until), language),
            })}
      </Text>
      <Text size="sm" c="dimmed">
        {t(`shield.certainty_${certainty.level}`, {
          count: certainty.samples,
          samples: certainty.samples.toLocaleString(language),
          margin: certainty.margin.toLocaleString(language),
        })}
      </Text>
      {!nothingKnown && (
        <Stack gap="md">
          <SimpleGrid cols={{ base: 1, xs: 3 }}>
            <Fact name={t('shield.cameInAll')}>
              {packets(total.packets)} · {bytes(total.bytes, language)}
            </Fact>
            <Fact name={t('shield.newlyDropped')}>{packets(newly_dropped.packets)}</Fact>
            <Fact name={t('shield.newlyPermitted')}>{packets(newly_permitted.packets)}</Fact>
          </SimpleGrid>
          <Tops title={t('shield.newlyDropped')} of={newly_dropped} />
          <Tops title={t('shield.newlyPermitted')} of={newly_permitted} />
          <List
            label={t('shield.ruleByRule')}
            items={named}
            keyOf={({ key }) => key}
            columns={[
              { name: t('shield.rule'), cell: ({ name }) => name },
              {
                name: t('shield.wouldBe'),
                cell: ({ action }) => (action === null ? '–' : t(`shield.do_${action}`)),
              },
              { name: t('shield.packetsOf'), isNumber: true, cell: ({ tally }) => packets(tally.packets) },
              {
                name: t('shield.margin'),
                isNumber: true,
                cell: ({ tally }) =>
                  tally.margin === 0 ? '–' : `± ${tally.margin.toLocaleString(language)}`,
              },
            ]}
            error={null}
            onRetry={() => undefined}
            empty={null}
          />
        </Stack>
      )}
    </Section>
  );
}

/** Who sent what would be different, and where to. */
function Tops({ title, of }: { title: string; of: Schema<'ShieldSimulatedChange'> }) {
  const { t } = useText();
  if (of.packets === 0) return null;
  return (
    <div>
      <Text size="sm" fw={600}>
        {title}
      </Text>
      <SimpleGrid cols={{ base: 1, xs: 2, lg: 4 }}>
        {(['sip', 'dport', 'sport', 'plen'] as const).map((name) => (
          <TopList key={name} title={t(`shield.top_${name}`)} tops={of.tops[name]} />
        ))}
      </SimpleGrid>
    </div>
  );
}
