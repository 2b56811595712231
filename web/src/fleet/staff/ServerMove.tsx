import { useQuery } from '@tanstack/react-query';
import { moveServer } from '../../../../client/generated/fields/moveServer.ts';
import type { Schema } from '../../../../client/index.ts';
import { client } from '../../data/client.ts';
import { serverMove } from '../../data/queries/staff/index.ts';
import { useText } from '../../text/index.ts';
import { Act, Facts, Group, LinkTo, Named, NamedChoice, Progress, Section, Text } from '../../ui/index.ts';

const whileItRunsMs = 2_000;

/** Gives the service of a server another one, and says how far that is and what came of it. Nothing where no service has it or had it. */
export function ServerMove({ of: { id, name } }: { of: Schema<'Server'> }) {
  const { t } = useText();
  const { data } = useQuery({
    ...serverMove({ id }),
    refetchInterval: ({ state }) => (state.data?.move.action ? whileItRunsMs : false),
  });
  const move = data?.move;
  if (move === undefined || (move.service_id === null && move.last === null)) return null;
  const { action, last } = move;
  const none = move.servers.length === 0;
  const reason = move.reason ?? (none ? t('racks.moveNone') : null);
  return (
    <Section title={t('racks.move')}>
      {action !== null && (
        <>
          <Text size="sm">{action.note ?? t('racks.moveBegins')}</Text>
          <Progress value={action.progress} aria-label={t('racks.move')} />
        </>
      )}
      {last !== null && (
        <Facts
          of={{
            ...last,
            state: t(`racks.move_${last.moved === null ? 'running' : last.moved ? 'done' : 'failed'}`),
          }}
          names={[
            ...(['state', 'from', 'to', 'reason', 'asked_at', 'ended_at'] as const),
            ...(last.problem === null ? [] : (['problem'] as const)),
          ]}
          cells={{
            from: () => <ToServer id={last.from_server_id} name={last.from} />,
            to: () => <ToServer id={last.to_server_id} name={last.to} />,
          }}
        />
      )}
      <Group gap="xs">
        <Act
          operation="moveServer"
          fields={moveServer}
          label={t('racks.moveTo')}
          text={t('racks.moveText')}
          name={name}
          isDangerous
          action={{ allowed: move.possible && !none, reason }}
          onAct={({ to_server_id: to, reason: why = '', unplugged }) =>
            client.post('/staff/servers/{id}/move', {
              path: { id },
              body: {
                ...{ reason: why, confirm: name, unplugged: unplugged === 'unplugged' },
                ...(to ? { to_server_id: Number(to) } : {}),
              },
            })
          }
        >
          <NamedChoice
            name="to_server_id"
            isOptional
            help={t('racks.moveToHelp')}
            of={move.servers.map(({ id: each, name: called, profile, rack }) => ({
              ...{ value: String(each), label: `${called} · ${profile} · ${rack}` },
            }))}
          />
          <NamedChoice
            name="unplugged"
            of={(['switched', 'unplugged'] as const).map((value) => ({
              value,
              label: t(`racks.leave_${value}`),
            }))}
            value="switched"
          />
          <Named name="reason" />
        </Act>
      </Group>
    </Section>
  );
}

function ToServer({ id, name }: { id: number; name: string }) {
  return (
    <LinkTo to="/staff/servers/$id" params={{ id: String(id) }}>
      {name}
    </LinkTo>
  );
}
