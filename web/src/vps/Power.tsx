import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { Schema } from '../../../client/index.ts';
import { useAhead } from '../data/ahead.ts';
import { client } from '../data/client.ts';
import { machine, session } from '../data/queries/index.ts';
import { lasting } from '../text/formats.ts';
import { useText } from '../text/index.ts';
import {
  ActionButton,
  ActionMenu,
  Confirm,
  Copy,
  Group,
  LinkButton,
  LinkTo,
  Progress,
  Refusal,
  Refusals,
  Skeleton,
  Stack,
  State,
  Text,
} from '../ui/index.ts';
import { useCommandName } from './commandName.ts';
import { useAge } from './useAge.ts';

const powerCommands = ['start', 'restart', 'stop', 'force_stop'] as const;
type PowerCommand = (typeof powerCommands)[number];

/** What is asked before each; a start needs no second thought. */
const questions = {
  restart: ['machine.restartAsk', 'machine.restartText'],
  stop: ['machine.stopAsk', 'machine.stopText'],
  force_stop: ['machine.force_stopAsk', 'machine.force_stopText'],
} as const;

/** Has a machine's power changed: that it is being done is shown at once, by whom as well. */
function usePower(id: number) {
  const { data: signedIn } = useQuery(session);
  return useAhead<Schema<'Machine'>, PowerCommand>({
    of: machine(id).queryKey,
    isAllowed: (vps, command) => vps.actions[command].allowed,
    becomes: (vps, command, ageMs) => ({
      ...vps,
      current_action: {
        ...{ id: 0, status: 'queued', progress: 0, note: null, error: null },
        command: command === 'force_stop' ? 'stop' : command,
        // Now, by the clock of the product.
        created_at: new Date(Date.parse(vps.read_at) + ageMs).toISOString(),
        ...{ started_at: null, finished_at: null },
        initiator: { type: 'user', id: null, name: signedIn?.user.email ?? null, ip: null },
      },
    }),
    send: (command) => {
      const path = { id };
      if (command === 'force_stop')
        return client.post('/dashboard/service/{id}/vps/stop', { path, body: { force: true } });
      return client.post(`/dashboard/service/{id}/vps/${command}`, { path, body: {} });
    },
    // The stream says how it goes on.
    anew: [['vps', id]],
  });
}

/** How a machine is, and its switch: above every page of it. */
export function Power({ id }: { id: number }) {
  const { t } = useText();
  const { data: vps, error, refetch, dataUpdatedAt } = useQuery(machine(id));
  const [asked, setAsked] = useState<keyof typeof questions | null>(null);
  const act = usePower(id);
  if (vps === undefined)
    return error ? <Refusal error={error} onRetry={() => void refetch()} /> : <Skeleton height={36} />;
  const press = (command: PowerCommand) => (command === 'start' ? act.mutate(command) : setAsked(command));
  const { current_action: now } = vps;
  const primary = vps.ips.find((each) => each.primary) ?? vps.ips[0];
  const toConsole = (
    <LinkButton to="/services/$id/console" params={{ id: String(id) }} size="sm" variant="default">
      {t('tab.console')}
    </LinkButton>
  );
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
          {toConsole}
        </Group>
        <Group gap="xs" hiddenFrom="sm" justify="space-between" flex={1}>
          {toConsole}
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
      {now !== null && <Running of={vps} now={now} readAt={dataUpdatedAt} isMeasured />}
      <Refusals of={act.refused} />
      <Asked name={vps.hostname} asked={asked} onClose={() => setAsked(null)} onConfirm={act.mutate} />
    </Stack>
  );
}

interface RunningProps {
  of: { service_id: number; read_at: string };
  now: Schema<'Action'>;
  /** When it was read, by this browser's clock. */
  readAt: number;
  /** Whether anybody knows how far it is. */
  isMeasured?: boolean;
}

/** What is being done to it, since when and for whom. */
export function Running({ of, now, readAt, isMeasured = false }: RunningProps) {
  const { t, language } = useText();
  const commandName = useCommandName();
  // This clock may be wrong, so moments of the product are only held against each other.
  const before = Date.parse(of.read_at) - Date.parse(now.started_at ?? now.created_at);
  const ageS = useAge(readAt - before);
  const { type, name } = now.initiator;
  return (
    <div role="status">
      <Group gap="sm" justify="space-between">
        <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
          <span aria-hidden="true">⟳ </span>
          {commandName(now.command)} · {/* Not told anew at every second. */}
          <span aria-live="off">{t('machine.since', { time: lasting(ageS ?? 1, language) })}</span> ·{' '}
          {name ?? t(`initiator.${type}`)}
          {now.note !== null && ` · ${now.note}`}
        </Text>
        <LinkTo to="/services/$id/history" params={{ id: String(of.service_id) }} size="sm">
          {t('machine.history')}
        </LinkTo>
      </Group>
      {isMeasured && (
        <Progress value={now.progress} aria-label={commandName(now.command)} color="brand" mt={4} animated />
      )}
    </div>
  );
}

interface AskedProps {
  name: string;
  asked: keyof typeof questions | null;
  onClose: () => void;
  onConfirm: (command: PowerCommand) => void;
}

function Asked({ name, asked, onClose, onConfirm }: AskedProps) {
  const { t } = useText();
  // What it says stays while it closes.
  const [shown, setShown] = useState(asked ?? 'stop');
  if (asked !== null && asked !== shown) setShown(asked);
  const [title, text] = questions[shown];
  return (
    <Confirm
      isOpen={asked !== null}
      title={t(title, { name })}
      text={t(text)}
      button={t(`machine.${shown}`)}
      onClose={onClose}
      onConfirm={() => {
        onClose();
        onConfirm(shown);
      }}
    />
  );
}

/** Where a stop or a restart failed because the guest ignores its power button: the way out. */
export function SwitchOff({ id }: { id: number }) {
  const { t } = useText();
  const { data: vps } = useQuery(machine(id));
  const [isAsked, setAsked] = useState(false);
  const act = usePower(id);
  // Off, or asked to be: there is nothing to offer.
  if (!vps?.actions.force_stop.allowed) return null;
  return (
    <div>
      <ActionButton
        size="xs"
        variant="default"
        mt={4}
        loading={act.isPending}
        action={vps.actions.force_stop}
        onAct={() => setAsked(true)}
      >
        {t('machine.force_stop')}
      </ActionButton>
      <Refusals of={act.refused} />
      <Asked
        name={vps.hostname}
        asked={isAsked ? 'force_stop' : null}
        onClose={() => setAsked(false)}
        onConfirm={act.mutate}
      />
    </div>
  );
}
