import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import type { DataOf, OperationAt, Schema } from '../../../client/index.ts';
import { client } from '../data/client.ts';
import { useShieldSeen } from '../data/measured.ts';
import { shieldAttack, shieldTraffic } from '../data/queries/index.ts';
import { bytes, lasting, moment } from '../text/formats.ts';
import { useText } from '../text/index.ts';
import {
  ActionButton,
  Confirm,
  Fact,
  LinkTo,
  Page,
  Refusal,
  Section,
  SimpleGrid,
  Skeleton,
  Stack,
  State,
  Text,
} from '../ui/index.ts';
import './shield.css';
import { ShieldTabs } from './ShieldTabs.tsx';
import { plainOf, useSayAttack } from './say.ts';
import { TopList } from './TopList.tsx';
import { TrafficPlot } from './TrafficPlot.tsx';
import { useMayManage } from './useMayManage.ts';
import { useRates } from './useRates.ts';

type One = Schema<'ShieldAttack'>;
type Mitigation = One['mitigations'][number];
type Info = DataOf<OperationAt<'get', '/shield/v2/attacks/{id}'>>['info'];

const tops = ['sip', 'dport', 'sport', 'plen', 'src-asn', 'src-country'] as const;

/** One attack: how strong it was, how it went, what was most frequent in it, and what was done. */
export function Attack() {
  const { t } = useText();
  const { id } = useParams({ from: '/in/shield/attacks/$id' });
  const read = useQuery(shieldAttack(id));
  const { data: found } = read;
  const say = useSayAttack();
  const isOn = found?.attack.ended_at === '';
  useShieldSeen(isOn ? found.attack.service_id : null);
  if (found === undefined)
    return (
      <Page title={t('shield.attack')}>
        <ShieldTabs />
        {read.error ? (
          <Refusal title={t('shield.attackFailed')} error={read.error} onRetry={() => void read.refetch()} />
        ) : (
          <Skeleton height={320} />
        )}
      </Page>
    );
  const { attack, info } = found;
  return (
    <Page title={say(attack)} aside={<State of={isOn ? 'attack_on' : 'attack_over'} />}>
      <ShieldTabs />
      <AttackFacts
        attack={attack}
        address={
          <LinkTo to="/shield/addresses/$ip" params={{ ip: plainOf(attack.dest) }}>
            {plainOf(attack.dest)}
          </LinkTo>
        }
      />
      <Course attack={attack} />
      <Done attack={attack} />
      <AttackTops info={info} />
    </Page>
  );
}

export function AttackTops({ info }: { info: Info }) {
  const { t } = useText();
  return (
    <Section title={t('shield.tops')}>
      <Text size="sm" c="dimmed">
        {t('shield.topsText')}
      </Text>
      <SimpleGrid cols={{ base: 1, xs: 2, lg: 3 }}>
        {tops.map((name) => (
          <TopList key={name} title={t(`shield.top_${name.replace('-', '_') as 'sip'}`)} tops={info[name]} />
        ))}
      </SimpleGrid>
    </Section>
  );
}

/** `address`: where it leads to. */
export function AttackFacts({ attack, address }: { attack: One; address: ReactNode }) {
  const { t, language } = useText();
  const { inSecond, bitsInSecond, packets } = useRates();
  return (
    <Section title={t('shield.aboutAttack')}>
      <SimpleGrid cols={{ base: 1, xs: 2, md: 4 }}>
        <Fact name={t('services.address')}>{address}</Fact>
        <Fact name={t('shield.began')}>{moment(String(attack.started_at), language)}</Fact>
        <Fact name={t('shield.ended')}>
          {attack.ended_at === '' ? t('status.attack_on') : moment(attack.ended_at, language)}
        </Fact>
        <Fact name={t('shield.lasted')}>{lasting(attack.duration, language)}</Fact>
        <Fact name={t('shield.peakPackets')}>{inSecond(attack.pps)}</Fact>
        <Fact name={t('shield.peakBits')}>{bitsInSecond(attack.mbps * 1e6)}</Fact>
        <Fact name={t('shield.volume')}>{bytes(attack.counters.bytes, language)}</Fact>
        <Fact name={t('shield.cameInAll')}>{packets(attack.counters.packets)}</Fact>
      </SimpleGrid>
    </Section>
  );
}

/** Before it and after it so many minutes are shown. */
const around = 10;
const minuteMs = 60_000;

function Course({ attack: { dest, started_at, ended_at, updated_at } }: { attack: One }) {
  const { t } = useText();
  const from = Date.parse(String(started_at)) - around * minuteMs;
  const last = Date.parse(ended_at === '' ? String(updated_at) : ended_at) + around * minuteMs;
  // By whole minutes: each reading of an attack that goes on would be another question.
  const until = Math.ceil(last / minuteMs) * minuteMs;
  const minutes = Math.ceil((until - from) / minuteMs);
  const read = useQuery(
    shieldTraffic(plainOf(dest), {
      ...{ unit: 'pps', time: minutes },
      until: `${new Date(until).toISOString().slice(0, 19)}Z`,
    }),
  );
  return (
    <Section title={t('shield.course')}>
      {read.error !== null && <Refusal error={read.error} onRetry={() => void read.refetch()} />}
      {read.isPending && <Skeleton height={260} />}
      {read.data !== undefined && (
        <TrafficPlot
          traffic={read.data}
          unit="pps"
          period={minutes > 1_440 ? 'week' : 'hour'}
          isNow={ended_at === ''}
        />
      )}
    </Section>
  );
}

/** What was done against it, in order, and what that came to. */
function Done({ attack }: { attack: One }) {
  const { t } = useText();
  return (
    <Section title={t('shield.done')}>
      {attack.mitigations.length === 0 ? (
        <Text c="dimmed">
          {t('shield.nothingDone')}{' '}
          <LinkTo to="/shield/addresses/$ip/detection" params={{ ip: plainOf(attack.dest) }}>
            {t('shield.toDetection')}
          </LinkTo>
        </Text>
      ) : (
        <Measures of={attack.mitigations} release={(each, name) => <Release id={each.id} name={name} />} />
      )}
    </Section>
  );
}

interface MeasuresProps {
  of: readonly Mitigation[];
  /** By what one that stands is released. */
  release: (mitigation: Mitigation, name: string) => ReactNode;
}

/** What was done, in order: why, what it has dropped, and how it stands. */
export function Measures({ of, release }: MeasuresProps) {
  return (
    <Stack component="ol" gap="md" p={0} m={0} style={{ listStyle: 'none' }}>
      {of.map((mitigation) => (
        <li key={mitigation.id}>
          <OneMeasure mitigation={mitigation} release={release} />
        </li>
      ))}
    </Stack>
  );
}

function OneMeasure({ mitigation, release }: { mitigation: Mitigation } & Pick<MeasuresProps, 'release'>) {
  const { t, language } = useText();
  const { packets, inSecond } = useRates();
  const { measure, ports, why, started_at, in_force, counters, error, releasing } = mitigation;
  const { released_at, because, by } = mitigation;
  const name = t(`shield.measure_${measure}`, { ports: ports.join(', '), count: ports.length });
  return (
    <SimpleGrid cols={{ base: 1, md: 2 }}>
      <div>
        <Text fw={600}>{name}</Text>
        <Text size="sm" c="dimmed">
          {moment(String(started_at), language)}
          {why.arrived.pps !== null &&
            why.limit.pps !== null &&
            ` · ${t('shield.why', { arrived: inSecond(why.arrived.pps), limit: inSecond(why.limit.pps) })}`}
        </Text>
        {error !== null && (
          <Text size="sm" lang="en">
            {error}
          </Text>
        )}
      </div>
      <div>
        <Text>
          {by === 'routers'
            ? t('shield.droppedUnseen')
            : t('shield.hasDropped', { packets: packets(counters.packets) })}
        </Text>
        {released_at !== null ? (
          <Text size="sm" c="dimmed">
            {t(`shield.because_${because ?? 'attack_over'}`, { time: moment(String(released_at), language) })}
          </Text>
        ) : releasing ? (
          <Text size="sm">{t('shield.releasing')}</Text>
        ) : (
          <>
            <State of={in_force ? 'in_force' : 'coming'} /> {release(mitigation, name)}
          </>
        )}
      </div>
    </SimpleGrid>
  );
}

function Release({ id, name }: { id: number; name: string }) {
  const { t } = useText();
  const queries = useQueryClient();
  const mayManage = useMayManage();
  const [isAsked, setAsked] = useState(false);
  const release = useMutation({
    mutationFn: () => client.post('/shield/v2/mitigations/{id}/release', { path: { id } }),
    onSettled: () => queries.invalidateQueries({ queryKey: ['shield'] }),
  });
  return (
    <>
      <ActionButton
        size="xs"
        variant="default"
        action={mayManage}
        loading={release.isPending}
        onAct={() => setAsked(true)}
      >
        {t('shield.release')}
      </ActionButton>
      <Refusal error={release.error} />
      <Confirm
        isOpen={isAsked}
        title={t('shield.releaseAsk', { name })}
        text={t('shield.releaseText')}
        button={t('shield.release')}
        onClose={() => setAsked(false)}
        onConfirm={() => {
          setAsked(false);
          release.mutate();
        }}
      />
    </>
  );
}
