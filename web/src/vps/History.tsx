import { useInfiniteQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Schema } from '../../../client/index.ts';
import { machineHistory, moreOf } from '../data/queries/index.ts';
import { AtOnce, measured } from '../dedicated/Power.tsx';
import { moment } from '../text/formats.ts';
import { useText } from '../text/index.ts';
import { List, State, Text } from '../ui/index.ts';
import { useCommandName } from './commandName.ts';
import { SwitchOff } from './Power.tsx';
import { useKind } from './useKind.ts';

/** Everything that was done to a machine. */
export function History() {
  const { id } = useParams({ from: '/in/services/$id' });
  return <Actions id={Number(id)} />;
}

/** How an action fails whose guest ignores its power button. */
const ignored = 'shutdown_timeout';

/** What was done to a machine, the newest first; `few` shows the last ones alone. */
export function Actions({ id, few = false }: { id: number; few?: boolean }) {
  const { t, language } = useText();
  const kind = useKind(id);
  const read = useInfiniteQuery(machineHistory(kind, id, few ? 5 : 25));
  const commandName = useCommandName();
  const newest = read.data?.pages[0]?.actions[0]?.id;
  const Failed = kind === 'vps' ? FailedMachine : FailedServer;
  return (
    <List
      label={t('machine.history')}
      items={read.data?.pages.flatMap(({ actions }) => actions)}
      keyOf={(action) => action.id}
      error={read.error}
      onRetry={() => void read.refetch()}
      empty={<Text>{t('machine.noHistory')}</Text>}
      more={few ? undefined : moreOf(read)}
      columns={[
        { name: t('machine.action'), cell: ({ command }) => commandName(command) },
        {
          name: t('services.status'),
          cell: (action) => (
            <div>
              <HowFar of={action} isMeasured={kind === 'vps' || measured.has(action.command)} />
              {action.error !== null && (
                <Failed id={id} of={action} error={action.error} isNewest={action.id === newest} />
              )}
            </div>
          ),
        },
        { name: t('machine.by'), cell: ({ initiator: { type, name } }) => name ?? t(`initiator.${type}`) },
        { name: t('billing.created'), isNumber: true, cell: (each) => moment(each.created_at, language) },
      ]}
    />
  );
}

/** Nobody knows how far a server has followed its power button. */
function HowFar({ of: { status, progress }, isMeasured }: { of: Schema<'Action'>; isMeasured: boolean }) {
  const { t } = useText();
  if (status !== 'running') return <State of={status} />;
  return isMeasured ? `${progress} %` : t('server.underWay');
}

interface FailedProps {
  id: number;
  of: Schema<'Action'>;
  error: NonNullable<Schema<'Action'>['error']>;
  /** What can be done about an older one was done or left since. */
  isNewest: boolean;
}

function FailedMachine({ id, error, isNewest }: FailedProps): ReactNode {
  const { t } = useText();
  if (error.code !== ignored) return <Unforeseen message={error.message} />;
  return (
    <>
      <Text size="sm">{t('machine.ignored')}</Text>
      {isNewest && <SwitchOff id={id} />}
    </>
  );
}

function FailedServer({ id, of: { command }, error, isNewest }: FailedProps): ReactNode {
  const { t } = useText();
  if (error.code === 'server_not_switched') return <Text size="sm">{t('server.notSwitched')}</Text>;
  if (error.code !== ignored) return <Unforeseen message={error.message} />;
  return (
    <>
      <Text size="sm">{t('server.ignored')}</Text>
      {isNewest && <AtOnce id={id} command={command === 'restart' ? 'force_restart' : 'force_stop'} />}
    </>
  );
}

/** What only the API can say, in its language. */
function Unforeseen({ message }: { message: string }) {
  return (
    <Text size="sm" lang="en">
      {message}
    </Text>
  );
}
