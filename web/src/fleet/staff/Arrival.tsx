import { useParams } from '@tanstack/react-router';
import { acceptArrival } from '../../../../client/generated/fields/acceptArrival.ts';
import type { Schema } from '../../../../client/index.ts';
import { client } from '../../data/client.ts';
import { arrival as oneArrival } from '../../data/queries/staff/index.ts';
import { useText } from '../../text/index.ts';
import {
  Act,
  Facts,
  Group,
  LinkTo,
  List,
  Named,
  NamedChoice,
  NamedLong,
  Page,
  Section,
  Text,
  Thing,
  useColumns,
} from '../../ui/index.ts';
import { Hardware } from './Hardware.tsx';
import { RackChoice } from './ServerFields.tsx';

/** One machine that started from the network: what it has, and what staff makes of it. */
export function Arrival() {
  const { t } = useText();
  const { id = '' } = useParams({ strict: false });
  return (
    <Thing title={t('staff.enrolment')} query={oneArrival({ id: Number(id) })}>
      {({ arrival }) => (
        <Page title={arrival.serial || arrival.mac}>
          <Section title={t(`racks.arrival_${arrival.state}`)}>
            <Text size="sm">{arrival.problem ?? t(`racks.about_arrival_${arrival.state}`)}</Text>
            {arrival.alike.length > 0 && (
              <Text size="sm">{t('racks.alikeText', { who: arrival.alike.join(', ') })}</Text>
            )}
            <Facts
              of={arrival}
              names={[
                ...(['mac', 'serial', 'is_there', 'server', 'arrived_at', 'seen_at', 'decided_at'] as const),
              ]}
              cells={{
                server: ({ server_id: serverId, server }) =>
                  serverId === null ? null : (
                    <LinkTo to="/staff/servers/$id" params={{ id: String(serverId) }}>
                      {server}
                    </LinkTo>
                  ),
              }}
            />
            <Acts of={arrival} />
          </Section>
          <Hardware of={arrival.hardware} />
          <Ports of={arrival} />
        </Page>
      )}
    </Thing>
  );
}

function Acts({ of: { id, serial, actions, server, server_id: serverId } }: { of: Schema<'Arrival'> }) {
  const { t } = useText();
  const path = { id };
  return (
    <Group gap="xs">
      {serverId === null ? (
        <Act
          operation="acceptArrival"
          fields={acceptArrival}
          label={t('racks.accept')}
          text={t('racks.acceptText')}
          action={actions.accept}
          isFirst
          onAct={({ name, serial: written, rack_id: rack, unit, height, note, bmc_kind: kind }) =>
            client.post('/staff/enrolment/arrivals/{id}/accept', {
              path,
              body: {
                ...(name && { name }),
                ...(written && { serial: written }),
                ...{ rack_id: rack ? Number(rack) : null, unit: unit ? Number(unit) : null },
                ...{ height: Number(height), note: note || null, bmc_kind: kind as SpokenKind },
              },
            })
          }
        >
          <Named name="name" />
          <Named name="serial" value={serial} isOptional />
          <RackChoice value={null} />
          <Named name="unit" isOptional />
          <Named name="height" value={1} />
          <KindChoice />
          <NamedLong name="note" isOptional />
        </Act>
      ) : (
        <Act
          operation="acceptArrival"
          fields={acceptArrival}
          label={t('racks.accept')}
          text={t('racks.acceptKnownText', { name: server })}
          action={actions.accept}
          isFirst
          onAct={({ bmc_kind: kind }) =>
            client.post('/staff/enrolment/arrivals/{id}/accept', {
              path,
              body: { server_id: serverId, bmc_kind: kind as SpokenKind },
            })
          }
        >
          <KindChoice />
        </Act>
      )}
      <Act
        operation="rejectArrival"
        label={t('racks.reject')}
        text={t('racks.rejectText')}
        action={actions.reject}
        onAct={() => client.post('/staff/enrolment/arrivals/{id}/reject', { path })}
      />
    </Group>
  );
}

type SpokenKind = Schema<'ArrivalAcceptance'>['bmc_kind'];

function KindChoice() {
  const { t } = useText();
  const kinds = acceptArrival.bmc_kind.choices.map((kind) => ({
    value: kind,
    label: t(`racks.bmc_${kind}`),
  }));
  return <NamedChoice name="bmc_kind" of={kinds} value="ipmi" />;
}

type Seen = {
  mac: string;
  linked: boolean;
  switch_id: number | null;
  switch: string | null;
  switch_port: string | null;
};

/** Its network ports, and what each was heard at. */
function Ports({ of: { hardware, plugged } }: { of: Schema<'Arrival'> }) {
  const { t } = useText();
  const ports = hardware.ports.map(({ mac, linked }): Seen => {
    const at = plugged.find((each) => each.mac === mac);
    return {
      mac,
      linked,
      switch_id: at?.switch_id ?? null,
      switch: at?.switch ?? null,
      switch_port: at?.switch_port ?? null,
    };
  });
  const columns = useColumns<Seen>(['mac', 'linked', 'switch', 'switch_port'], {
    switch: ({ switch_id: id, switch: name }) =>
      id === null ? null : (
        <LinkTo to="/staff/switches/$id" params={{ id: String(id) }}>
          {name}
        </LinkTo>
      ),
  });
  return (
    <Section title={t('racks.ports')}>
      <List
        label={t('racks.ports')}
        items={ports}
        keyOf={({ mac }) => mac}
        columns={columns}
        error={null}
        onRetry={() => undefined}
        empty={<Text c="dimmed">{t('empty.ports')}</Text>}
      />
    </Section>
  );
}
