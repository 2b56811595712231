import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { client } from '../data/client.ts';
import { machine } from '../data/queries/index.ts';
import { moment } from '../text/formats.ts';
import { useText } from '../text/index.ts';
import {
  ActionButton,
  ActionMenu,
  Confirm,
  Copy,
  Group,
  Progress,
  Refusal,
  Skeleton,
  Stack,
  State,
  Text,
} from '../ui/index.ts';
import { useCommandName } from './commandName.ts';

const powerCommands = ['start', 'restart', 'stop'] as const;
type PowerCommand = (typeof powerCommands)[number];

/** How a machine is, and its switch: above every page of it. */
export function Power({ id }: { id: number }) {
  const { t, language } = useText();
  const queries = useQueryClient();
  const { data: vps, error, refetch } = useQuery(machine(id));
  const [asked, setAsked] = useState<PowerCommand | null>(null);
  const commandName = useCommandName();
  const act = useMutation({
    mutationFn: (command: PowerCommand) =>
      client.post(`/dashboard/service/{id}/vps/${command}`, { path: { id }, body: {} }),
    // The stream says how it goes on; this much is known already.
    onSettled: () => queries.invalidateQueries({ queryKey: ['vps', id] }),
  });
  if (vps === undefined)
    return error ? <Refusal error={error} onRetry={() => void refetch()} /> : <Skeleton height={36} />;
  const press = (command: PowerCommand) => (command === 'start' ? act.mutate(command) : setAsked(command));
  const confirmed = asked ?? 'stop';
  const { current_action: now } = vps;
  const primary = vps.ips.find((each) => each.primary) ?? vps.ips[0];
  return (
    <Stack gap="sm">
      <Group gap="sm" justify="space-between">
        <Group gap="sm">
          <State of={vps.state} />
          {primary !== undefined && <Copy text={primary.address} />}
        </Group>
        <Group gap="xs" visibleFrom="sm">
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
        <Group hiddenFrom="sm">
          <ActionMenu
            label={t('machine.power')}
            actions={powerCommands.map((command) => ({
              name: t(`machine.${command}`),
              action: vps.actions[command],
              onAct: () => press(command),
            }))}
          />
        </Group>
      </Group>
      {now !== null && (
        <div role="status">
          <Text size="sm">
            {t('machine.begun', { what: commandName(now.command) })} ·{' '}
            {t('machine.since', { time: moment(now.started_at ?? now.created_at, language) })}
            {now.note !== null && ` · ${now.note}`}
          </Text>
          <Progress
            value={now.progress}
            aria-label={commandName(now.command)}
            color="brand"
            mt={4}
            animated
          />
        </div>
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
