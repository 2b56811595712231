import { useQuery } from '@tanstack/react-query';
import type { Schema } from '../../../../client/index.ts';
import { client } from '../../data/client.ts';
import { recovery } from '../../data/queries/staff/index.ts';
import { moment } from '../../text/formats.ts';
import { useText } from '../../text/index.ts';
import { Act, List, Section, Text, useColumns } from '../../ui/index.ts';

const whileItRunsMs = 2_000;

/** What of a lost node's machines can be made anew elsewhere, from when, and what has become of those that were. */
export function Recovery({ of: node }: { of: Schema<'Node'> }) {
  const { t, language } = useText();
  const read = useQuery({
    ...recovery({ id: node.id }),
    refetchInterval: ({ state }) =>
      state.data?.recovery.machines.some((each) => each.state === 'running') ? whileItRunsMs : false,
  });
  const found = read.data?.recovery;
  const recover = (confirm: string, only?: number[]) =>
    client.post('/staff/nodes/{id}/recover', {
      path: { id: node.id },
      body: { confirm, ...(only === undefined ? {} : { service_ids: only }) },
    });
  const at = (when: string | null) => (when === null ? '–' : moment(when, language));
  const columns = useColumns<Schema<'RecoverableMachine'>>(
    ['service_id', 'hostname', 'backup_at', 'kept_on', 'state', 'reason', 'node'],
    {
      backup_at: ({ backup_at: when }) => at(when),
      state: ({ state }) => t(`running.recovery_${state}`),
      node: (each) => {
        if (each.state === 'possible' && found?.possible)
          return (
            <Act
              operation="recoverNode"
              label={t('running.recover')}
              size="compact-sm"
              text={t('running.recoverOneText', { hostname: each.hostname ?? '–', at: at(each.backup_at) })}
              name={found.name}
              isDangerous
              onAct={() => recover(found.name, [each.service_id])}
            />
          );
        const { node: name, left_over: left } = each;
        return left === null ? name : `${name ?? '–'}. ${t('running.leftOver', { name: left })}`;
      },
    },
  );
  if (found === undefined) return null;
  const may = found.machines.filter(({ state }) => state === 'possible');
  return (
    <Section title={t('running.recovery')}>
      {found.reason !== null && <Text size="sm">{found.reason}</Text>}
      <List
        label={t('running.recovery')}
        items={found.machines}
        keyOf={({ service_id: id }) => id}
        columns={columns}
        error={null}
        onRetry={() => undefined}
        empty={<Text c="dimmed">{t('running.recoveryNone')}</Text>}
      />
      {found.possible && may.length > 0 && (
        <Act
          operation="recoverNode"
          label={t('running.recoverAll')}
          text={t('running.recoverText', { name: found.name })}
          name={found.name}
          isDangerous
          onAct={() => recover(found.name)}
        />
      )}
    </Section>
  );
}
