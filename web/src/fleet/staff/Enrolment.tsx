import { useQuery } from '@tanstack/react-query';
import { openEnrolment } from '../../../../client/generated/fields/openEnrolment.ts';
import type { Schema } from '../../../../client/index.ts';
import { client } from '../../data/client.ts';
import { arrivals, enrolment } from '../../data/queries/staff/index.ts';
import { moment } from '../../text/formats.ts';
import { useText } from '../../text/index.ts';
import { Act, Group, LinkTo, ListPage, Named, Text, useColumns } from '../../ui/index.ts';

const states = ['waiting', 'accepted', 'enrolled', 'rejected'] as const;

/** Machines that started from the network, and whether those may that nobody knows. */
export function Enrolment() {
  const { t, language } = useText();
  const { data } = useQuery(enrolment());
  const now = data?.enrolment;
  const columns = useColumns<Schema<'Arrival'>>(
    ['mac', 'serial', 'state', 'processor', 'memory_mib', 'switch_port', 'server', 'arrived_at', 'seen_at'],
    {
      mac: ({ id, mac }) => (
        <LinkTo to="/staff/enrolment/$id" params={{ id: String(id) }}>
          {mac}
        </LinkTo>
      ),
      state: ({ state }) => t(`racks.arrival_${state}`),
      processor: ({ hardware }) => t('racks.processorOf', hardware.processor),
      memory_mib: ({ hardware }) => hardware.memory_mib,
      switch_port: ({ plugged }) =>
        plugged.map((each) => `${each.switch} ${each.switch_port}`).join(', ') || '–',
    },
  );
  return (
    <ListPage
      title={t('staff.enrolment')}
      empty={t('empty.arrivals')}
      text={t('racks.enrolmentText')}
      list={arrivals}
      filters={[
        { name: 'state', of: states.map((value) => ({ value, label: t(`racks.arrival_${value}`) })) },
      ]}
      columns={columns}
      aside={
        <Group gap="xs">
          {now !== undefined && (
            <>
              <Text size="sm">
                {now.open_until === null
                  ? t('racks.enrolmentClosed')
                  : t('racks.enrolmentOpen', { until: moment(now.open_until, language) })}
              </Text>
              <Networks of={now.networks} />
            </>
          )}
          <Act
            operation="openEnrolment"
            fields={openEnrolment}
            label={t('racks.openEnrolment')}
            text={t('racks.openEnrolmentText')}
            size="sm"
            isFirst
            onAct={({ hours }) => client.post('/staff/enrolment/open', { body: { hours: Number(hours) } })}
          >
            <Named name="hours" value={8} />
          </Act>
          {now?.is_open && (
            <Act
              operation="closeEnrolment"
              label={t('racks.closeEnrolment')}
              text={t('racks.closeEnrolmentText')}
              size="sm"
              onAct={() => client.post('/staff/enrolment/close')}
            />
          )}
        </Group>
      }
    />
  );
}

function Networks({ of: networks }: { of: Schema<'ServerNetwork'>[] }) {
  const { t } = useText();
  if (networks.length === 0) return <Text size="sm">{t('racks.noNetworks')}</Text>;
  return networks.map((network) => (
    <Text key={network.name} size="sm">
      {network.is_served
        ? t('racks.networkServed', network)
        : t('racks.networkSilent', { ...network, problem: network.problem ?? t('racks.networkUnheard') })}
    </Text>
  ));
}
