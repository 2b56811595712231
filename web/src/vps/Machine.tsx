import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { Schema } from '../../../client/index.ts';
import { client } from '../data/client.ts';
import { useMeasured } from '../data/measured.ts';
import { machine, session } from '../data/queries/index.ts';
import { gigabytes, moment, percent } from '../text/formats.ts';
import { useText } from '../text/index.ts';
import {
  Alert,
  AsCode,
  Copy,
  Fact,
  Group,
  LinkTo,
  Progress,
  Section,
  SimpleGrid,
  Skeleton,
  Spark,
  Stack,
  State,
} from '../ui/index.ts';
import { Actions } from './History.tsx';
import { Screen } from './Screen.tsx';

type Vps = Schema<'Machine'>;

/** The first page of a machine: how to get in, what it uses, and what was done last. */
export function Machine({ id }: { id: number }) {
  const { t, language } = useText();
  const isFollowed = useMeasured(id);
  const { data: vps, error } = useQuery(machine(id));
  // What stands above it says why it cannot be read.
  if (vps === undefined) return error ? null : <Skeleton height={460} />;
  return (
    <Stack gap="lg">
      {vps.host_silent_since !== null && (
        <Alert
          color="orange"
          title={t('machine.hostSilent', { time: moment(vps.host_silent_since, language) })}
        >
          {t('machine.hostSilentText')}
        </Alert>
      )}
      <div className="connect">
        <Connect
          ips={vps.ips}
          system={[vps.os.name ?? vps.os.slug, vps.os.version].filter(Boolean).join(' ')}
          location={vps.location}
          act={() => client.get('/dashboard/service/{id}/vps/overview', { path: { id } })}
        />
        <Screen id={id} state={vps.state} isFollowed={isFollowed} />
      </div>
      <Resources vps={vps} />
      <Section
        title={t('machine.history')}
        aside={
          <LinkTo to="/services/$id/history" params={{ id: String(id) }}>
            {t('machine.wholeHistory')}
          </LinkTo>
        }
      >
        <Actions id={id} few />
      </Section>
    </Stack>
  );
}

interface ConnectProps {
  ips: Vps['ips'];
  system: string;
  location: string | null;
  /** How the API is asked for it. */
  act: () => Promise<unknown>;
  /** What else there is to be said. */
  children?: ReactNode;
}

/** How to get in, and where that is. */
export function Connect({ ips, system, location, act, children }: ConnectProps) {
  const { t } = useText();
  const primary = ips.find((each) => each.primary) ?? ips[0];
  return (
    <Section title={t('machine.connect')}>
      {primary !== undefined && (
        <Group gap="xs">
          <Copy text={`ssh root@${primary.address}`} />
          <AsCode isReading act={act} />
        </Group>
      )}
      <Fact name={t('machine.addresses')}>{ips.map(({ address }) => address).join(', ')}</Fact>
      <Shield ips={ips} />
      <Fact name={t('machine.system')}>{system}</Fact>
      {location !== null && <Fact name={t('machine.location')}>{location}</Fact>}
      {children}
    </Section>
  );
}

/** For each address whether something filters what is sent there, and where that is said. */
function Shield({ ips }: Pick<ConnectProps, 'ips'>) {
  const { t } = useText();
  const { data: signedIn } = useQuery(session);
  const mayLook = signedIn?.organization?.permissions.includes('shield.read') === true;
  return (
    <Fact name={t('nav.shield')}>
      {ips.map(({ address, shield }) => (
        <Group key={address} gap="xs">
          <State of={shield.under_attack ? 'under_attack' : shield.enabled ? 'protected' : 'unprotected'} />
          {mayLook && (
            <LinkTo to="/shield/addresses/$ip" params={{ ip: address }} size="sm">
              {t('machine.rulesOf', { address })}
            </LinkTo>
          )}
        </Group>
      ))}
    </Fact>
  );
}

function Resources({ vps: { resources, usage, recent, traffic } }: { vps: Vps }) {
  const { t, language } = useText();
  const memory = gigabytes(resources.memory_mb / 1024, language);
  const used = usage && (usage.memory_used_mb / resources.memory_mb) * 100;
  const sent = gigabytes(traffic.used_gb, language);
  return (
    <Section title={t('machine.resources')}>
      <SimpleGrid cols={{ base: 1, xs: 2, lg: 4 }}>
        <Fact name={t('machine.cpu')}>
          {usage === null ? (
            t('machine.cores', { count: resources.cpu })
          ) : (
            <div className="measured">
              <Spark values={recent.cpu_percent} top={100} />
              {t('machine.of', {
                used: percent(usage.cpu_percent, language),
                total: t('machine.cores', { count: resources.cpu }),
              })}
            </div>
          )}
          {usage !== null && (
            <Progress value={usage.cpu_percent} aria-label={t('machine.cpu')} color="brand" mt={4} />
          )}
        </Fact>
        <Fact name={t('machine.memory')}>
          {usage === null ? (
            memory
          ) : (
            <div className="measured">
              <Spark values={recent.memory_used_mb} top={resources.memory_mb} />
              {t('machine.of', { used: gigabytes(usage.memory_used_mb / 1024, language), total: memory })}
            </div>
          )}
          {used !== null && <Progress value={used} aria-label={t('machine.memory')} color="brand" mt={4} />}
        </Fact>
        <Fact name={t('machine.disk')}>{gigabytes(resources.disk_gb, language)}</Fact>
        <Fact name={t('machine.traffic')}>
          {traffic.limit_gb === null
            ? sent
            : t('machine.of', { used: sent, total: gigabytes(traffic.limit_gb, language) })}
        </Fact>
      </SimpleGrid>
    </Section>
  );
}
