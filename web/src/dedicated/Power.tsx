import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { Schema } from '../../../client/index.ts';
import { useAhead } from '../data/ahead.ts';
import { client } from '../data/client.ts';
import { server, session } from '../data/queries/index.ts';
import { moment } from '../text/formats.ts';
import { useText } from '../text/index.ts';
import {
  ActionButton,
  ActionMenu,
  Alert,
  Confirm,
  Copy,
  Group,
  Refusal,
  Refusals,
  Skeleton,
  Stack,
  State,
} from '../ui/index.ts';
import { Running } from '../vps/Power.tsx';

type Server = Schema<'DedicatedServer'>;

const commands = ['start', 'restart', 'stop'] as const;
type Forced = 'force_stop' | 'force_restart';
type Command = (typeof commands)[number] | Forced;

/** What the API calls each. */
const actionOf = {
  ...{ start: 'start', restart: 'restart', stop: 'stop' },
  ...{ force_stop: 'stop', force_restart: 'restart' },
} as const satisfies Record<Command, (typeof commands)[number]>;

/** What is asked before each; a start needs no second thought. */
const questions = {
  restart: ['machine.restart', 'machine.restartAsk', 'server.restartText'],
  stop: ['machine.stop', 'machine.stopAsk', 'server.stopText'],
  force_stop: ['machine.force_stop', 'machine.force_stopAsk', 'server.force_stopText'],
  force_restart: ['server.force_restart', 'server.force_restartAsk', 'server.force_restartText'],
} as const;

/** Has a server switched: that it is being done is shown at once. */
function useSwitch(id: number) {
  const { data: signedIn } = useQuery(session);
  return useAhead<Server, Command>({
    of: server(id).queryKey,
    isAllowed: (now, command) => now.actions[actionOf[command]].allowed,
    becomes: (now, command, ageMs) => ({
      ...now,
      current_action: {
        ...{ id: 0, status: 'queued', progress: 0, note: null, error: null },
        command: actionOf[command],
        // Now, by the clock of the product.
        created_at: new Date(Date.parse(now.read_at) + ageMs).toISOString(),
        ...{ started_at: null, finished_at: null },
        initiator: { type: 'user', id: null, name: signedIn?.user.email ?? null, ip: null },
      },
    }),
    send: (command) =>
      client.post(`/dashboard/service/{id}/dedicated/${actionOf[command]}`, {
        path: { id },
        body: command.startsWith('force_') ? { force: true } : {},
      }),
    anew: [['dedicated', id]],
  });
}

/** How often it is looked whether its controller is heard: of that, and of what staff does, no event tells its customer. */
const lookMs = 60_000;
const lookSoonMs = 5_000;
const passing: readonly Server['state'][] = ['starting', 'stopping', 'restarting', 'reinstalling'];
/** What we do with a server says how far it is; nobody knows how far one has followed its power button. */
export const measured: ReadonlySet<string> = new Set(['reinstall', 'rescue', 'move']);

/** How a server is, and its switch: above every page of it. */
export function Power({ id }: { id: number }) {
  const { t } = useText();
  const read = useQuery({
    ...server(id),
    refetchInterval: ({ state: { data } }) =>
      data !== undefined && (passing.includes(data.state) || data.current_action?.command === 'move')
        ? lookSoonMs
        : lookMs,
  });
  const { data: found, error, refetch, dataUpdatedAt } = read;
  const [asked, setAsked] = useState<keyof typeof questions | null>(null);
  const act = useSwitch(id);
  if (found === undefined)
    return error ? <Refusal error={error} onRetry={() => void refetch()} /> : <Skeleton height={36} />;
  const press = (command: (typeof commands)[number]) =>
    command === 'start' ? act.mutate(command) : setAsked(command);
  const { current_action: now } = found;
  const primary = found.ips.find((each) => each.primary) ?? found.ips[0];
  return (
    <Stack gap="sm">
      {found.power.silent && <Silent heardAt={found.power.heard_at} />}
      <Group gap="sm" justify="space-between">
        <Group gap="sm">
          <State of={found.state} />
          {primary !== undefined && <Copy text={primary.address} />}
        </Group>
        <Group gap="xs" visibleFrom="sm">
          {commands.map((command) => (
            <ActionButton
              key={command}
              size="sm"
              variant={command === 'start' && found.actions.start.allowed ? 'filled' : 'default'}
              loading={act.isPending && act.variables === command}
              action={found.actions[command]}
              onAct={() => press(command)}
            >
              {t(`machine.${command}`)}
            </ActionButton>
          ))}
        </Group>
        <Group gap="xs" hiddenFrom="sm" justify="end" flex="1 0 auto">
          <ActionMenu
            label={t('machine.power')}
            actions={commands.map((command) => ({
              name: t(`machine.${command}`),
              action: found.actions[command],
              onAct: () => press(command),
            }))}
          />
        </Group>
      </Group>
      {found.problem !== null && (found.state === 'error' || found.state === 'broken') && (
        <Alert color="red" lang="en">
          {found.problem}
        </Alert>
      )}
      {now !== null && (
        <Running of={found} now={now} readAt={dataUpdatedAt} isMeasured={measured.has(now.command)} />
      )}
      <Refusals of={act.refused} />
      <Asked name={found.hostname} asked={asked} onClose={() => setAsked(null)} onConfirm={act.mutate} />
    </Stack>
  );
}

/** Its controller does not answer: since when nothing newer is known. */
function Silent({ heardAt }: { heardAt: string | null }) {
  const { t, language } = useText();
  return (
    <Alert
      color="orange"
      title={
        heardAt === null ? t('server.neverHeard') : t('server.heardLast', { time: moment(heardAt, language) })
      }
    >
      {t('server.silentText')}
    </Alert>
  );
}

interface AskedProps {
  name: string;
  asked: keyof typeof questions | null;
  onClose: () => void;
  onConfirm: (command: Command) => void;
}

function Asked({ name, asked, onClose, onConfirm }: AskedProps) {
  const { t } = useText();
  // What it says stays while it closes.
  const [shown, setShown] = useState(asked ?? 'stop');
  if (asked !== null && asked !== shown) setShown(asked);
  const [button, title, text] = questions[shown];
  return (
    <Confirm
      isOpen={asked !== null}
      title={t(title, { name })}
      text={t(text)}
      button={t(button)}
      onClose={onClose}
      onConfirm={() => {
        onClose();
        onConfirm(shown);
      }}
    />
  );
}

/** Where a system did not follow the power button: the way out. */
export function AtOnce({ id, command }: { id: number; command: Forced }) {
  const { t } = useText();
  const { data: found } = useQuery(server(id));
  const [isAsked, setAsked] = useState(false);
  const act = useSwitch(id);
  const action = found?.actions[actionOf[command]];
  // Off, or being switched: there is nothing to offer.
  if (found === undefined || !action?.allowed) return null;
  return (
    <div>
      <ActionButton
        size="xs"
        variant="default"
        mt={4}
        loading={act.isPending}
        action={action}
        onAct={() => setAsked(true)}
      >
        {t(questions[command][0])}
      </ActionButton>
      <Refusals of={act.refused} />
      <Asked
        name={found.hostname}
        asked={isAsked ? command : null}
        onClose={() => setAsked(false)}
        onConfirm={act.mutate}
      />
    </div>
  );
}
