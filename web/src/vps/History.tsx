import { useInfiniteQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { machineHistory, moreOf } from '../data/queries/index.ts';
import { moment } from '../text/formats.ts';
import { useText } from '../text/index.ts';
import { List, State, Text } from '../ui/index.ts';
import { useCommandName } from './commandName.ts';
import { SwitchOff } from './Power.tsx';

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
  const read = useInfiniteQuery(machineHistory(id, few ? 5 : 25));
  const commandName = useCommandName();
  const newest = read.data?.pages[0]?.actions[0]?.id;
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
        { name: t('machine.history'), cell: ({ command }) => commandName(command) },
        {
          name: t('services.status'),
          cell: ({ id: action, status, error, progress }) => (
            <div>
              {status === 'running' ? `${progress} %` : <State of={status} />}
              {error?.code === ignored && <Text size="sm">{t('machine.ignored')}</Text>}
              {error !== null && error.code !== ignored && (
                <Text size="sm" lang="en">
                  {error.message}
                </Text>
              )}
              {error?.code === ignored && action === newest && <SwitchOff id={id} />}
            </div>
          ),
        },
        { name: t('machine.by'), cell: ({ initiator: { type, name } }) => name ?? t(`initiator.${type}`) },
        { name: t('billing.created'), isNumber: true, cell: (each) => moment(each.created_at, language) },
      ]}
    />
  );
}
