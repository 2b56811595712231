import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { Schema } from '../../../client/index.ts';
import { client } from '../data/client.ts';
import { machine, machineHistory } from '../data/queries/index.ts';
import { gigabytes, moment } from '../text/formats.ts';
import { useText } from '../text/index.ts';
import {
  ActionButton,
  Confirm,
  Copy,
  Fact,
  Group,
  List,
  Progress,
  Refusal,
  Section,
  SimpleGrid,
  Skeleton,
  Stack,
  State,
  Text,
  Title,
} from '../ui/index.ts';
import { useCommandName } from './commandName.ts';

type Vps = Schema<'Machine'>;

export function Machine({ id }: { id: number }) {
  const read = useQuery(machine(id));
  if (read.data === undefined)
    return read.error ? (
      <Refusal error={read.error} onRetry={() => void read.refetch()} />
    ) : (
      <Skeleton height={220} />
    );
  return (
    <Stack gap="lg">
      <Power vps={read.data} />
      <SimpleGrid cols={{ base: 1, md: 2 }}>
        <Connect vps={read.data} />
        <Resources vps={read.data} />
      </SimpleGrid>
      <History id={id} />
    </Stack>
  );
}

const powerCommands = ['start', 'restart', 'stop'] as const;
type PowerCommand = (typeof powerCommands)[number];

function Power({ vps }: { vps: Vps }) {
  const { t, language } = useText();
  const queries = useQueryClient();
  const [asked, setAsked] = useState<PowerCommand | null>(null);
  const commandName = useCommandName();
  const act = useMutation({
    mutationFn: (command: PowerCommand) =>
      client.post(`/dashboard/service/{id}/vps/${command}`, { path: { id: vps.service_id }, body: {} }),
    // The stream says how it goes on; this much is known already.
    onSettled: () => queries.invalidateQueries({ queryKey: ['vps', vps.service_id] }),
  });
  const press = (command: PowerCommand) => (command === 'start' ? act.mutate(command) : setAsked(command));
  const confirmed = asked ?? 'stop';
  const { current_action: now } = vps;
  return (
    <Stack gap="sm">
      <Group gap="sm">
        <State of={vps.state} />
        {powerCommands.map((command) => (
          <ActionButton
            key={command}
            size="sm"
            variant={command === 'start' && vps.actions.start.allowed ? 'filled' : 'default'}
            loading={act.isPending && act.variables === command}
            action={vps.actions[command]}
            onAct={() => press(command)}
          >
            {t(`machine.${command}`)}
          </ActionButton>
        ))}
      </Group>
      {now !== null && (
        <Text size="sm" role="status">
          {t('machine.begun', { what: commandName(now.command) })} ·{' '}
          {t('machine.since', { time: moment(now.started_at ?? now.created_at, language) })}
        </Text>
      )}
      <Refusal error={act.error} />
      <Confirm
        isOpen={asked !== null}
        title={t(confirmed === 'restart' ? 'machine.restartAsk' : 'machine.stopAsk', { name: vps.hostname })}
        text={t(confirmed === 'restart' ? 'machine.restartText' : 'machine.stopText')}
        button={t(`machine.${confirmed}`)}
        onClose={() => setAsked(null)}
        onConfirm={() => {
          setAsked(null);
          act.mutate(confirmed);
        }}
      />
    </Stack>
  );
}

function Connect({ vps }: { vps: Vps }) {
  const { t } = useText();
  const primary = vps.ips.find((each) => each.primary) ?? vps.ips[0];
  return (
    <Section title={t('machine.connect')}>
      {primary !== undefined && <Copy text={`ssh root@${primary.address}`} />}
      <Fact name={t('machine.addresses')}>{vps.ips.map(({ address }) => address).join(', ')}</Fact>
      <Fact name={t('machine.system')}>
        {[vps.os.name ?? vps.os.slug, vps.os.version].filter(Boolean).join(' ')}
      </Fact>
      <Fact name={t('machine.location')}>{vps.location}</Fact>
    </Section>
  );
}

function Resources({ vps: { resources, usage, traffic } }: { vps: Vps }) {
  const { t, language } = useText();
  const memory = gigabytes(resources.memory_mb / 1024, language);
  const used = usage && (usage.memory_used_mb / resources.memory_mb) * 100;
  const sent = gigabytes(traffic.used_gb, language);
  return (
    <Section title={t('machine.resources')}>
      <Fact name={t('machine.cpu')}>
        {t('machine.cores', { count: resources.cpu })}
        {usage !== null && (
          <Progress value={usage.cpu_percent} aria-label={t('machine.cpu')} color="brand" mt={4} />
        )}
      </Fact>
      <Fact name={t('machine.memory')}>
        {usage === null
          ? memory
          : t('machine.of', { used: gigabytes(usage.memory_used_mb / 1024, language), total: memory })}
        {used !== null && <Progress value={used} aria-label={t('machine.memory')} color="brand" mt={4} />}
      </Fact>
      <Fact name={t('machine.disk')}>{gigabytes(resources.disk_gb, language)}</Fact>
      <Fact name={t('machine.traffic')}>
        {traffic.limit_gb === null
          ? sent
          : t('machine.of', { used: sent, total: gigabytes(traffic.limit_gb, language) })}
      </Fact>
    </Section>
  );
}

function History({ id }: { id: number }) {
  const { t, language } = useText();
  const read = useQuery(machineHistory(id));
  const commandName = useCommandName();
  return (
    <Stack gap="sm">
      <Title order={2} size="h4">
        {t('machine.history')}
      </Title>
      <List
        label={t('machine.history')}
        items={read.data?.actions}
        keyOf={(action) => action.id}
        error={read.error}
        onRetry={() => void read.refetch()}
        empty={<Text>{t('machine.noHistory')}</Text>}
        columns={[
          { name: t('machine.history'), cell: ({ command }) => commandName(command) },
          {
            name: t('services.status'),
            cell: ({ status, error, progress }) => (
              <>
                {status === 'running' ? `${progress} %` : <State of={status} />}
                {error !== null && <Text size="sm">{error.message}</Text>}
              </>
            ),
          },
          { name: t('billing.created'), isNumber: true, cell: (each) => moment(each.created_at, language) },
        ]}
      />
    </Stack>
  );
}
