import { useNavigate, useParams } from '@tanstack/react-router';
import type { Schema } from '../../../../client/index.ts';
import { client } from '../../data/client.ts';
import { unknownMachine } from '../../data/queries/staff/index.ts';
import { useText } from '../../text/index.ts';
import { Act, Facts, LinkTo, Page, Reason, Section, Text, Thing } from '../../ui/index.ts';

type Unknown = Schema<'UnknownMachine'>;

/** A machine that a node has and the database does not know: whose it may be, and how it becomes that. */
export function UnknownMachine() {
  const { t } = useText();
  const { id = '' } = useParams({ strict: false });
  return (
    <Thing title={t('running.unknownMachine')} query={unknownMachine({ id: Number(id) })}>
      {({ unknown_machine: machine }) => (
        <Page title={machine.machine}>
          <Section title={t('running.unknownMachine')}>
            <Text size="sm">{t('running.unknownText')}</Text>
            <Facts
              of={machine}
              names={['node', 'addresses', 'found_at']}
              cells={{ node: (of) => <OfNode id={of.node_id} name={of.node} /> }}
            />
          </Section>
          {machine.old_copy === null ? (
            <Text size="sm">{t('running.unknownNobodys')}</Text>
          ) : (
            <Adoption of={machine} old={machine.old_copy} />
          )}
        </Page>
      )}
    </Thing>
  );
}

function Adoption({ of, old }: { of: Unknown; old: Schema<'UnknownMachineOldCopy'> }) {
  const { t } = useText();
  const navigate = useNavigate();
  const { id, machine, hostname, service_id: serviceId, actions, confirm } = of;
  const words = { machine, hostname: hostname ?? '–', old: old.machine, node: old.node };
  return (
    <Section title={t('running.theMachine')}>
      <Text size="sm">{t('running.unknownOf', words)}</Text>
      <Facts
        of={{ ...old, hostname, service_id: serviceId }}
        names={['machine', 'node', 'state', 'power', 'hostname', 'service_id']}
        cells={{
          power: ({ power }) => t(`running.copy_${power}`),
          node: ({ node_id: nodeId, node }) => <OfNode id={nodeId} name={node} />,
          service_id: () => (
            <LinkTo to="/staff/services/$id" params={{ id: String(serviceId) }}>
              {serviceId}
            </LinkTo>
          ),
        }}
      />
      {!actions.adopt.allowed && (
        <Text size="sm">
          <Reason {...actions.adopt} />
        </Text>
      )}
      {actions.adopt.allowed && confirm !== null && (
        <Text size="sm">{t('running.unknownSilent', { nodes: confirm })}</Text>
      )}
      <Act
        operation="adoptMachine"
        label={t('running.adopt')}
        text={
          confirm === null
            ? t('running.adoptText', words)
            : `${t('running.adoptText', words)} ${t('running.adoptSilent', { nodes: confirm })}`
        }
        name={confirm ?? machine}
        action={actions.adopt}
        isDangerous
        onAct={async () => {
          await client.post('/staff/unknown-machines/{id}/adopt', {
            path: { id },
            body: confirm === null ? {} : { confirm },
          });
          // Nobody knows it by this number any more.
          await navigate({ to: '/staff/services/$id', params: { id: String(serviceId) } });
        }}
      />
    </Section>
  );
}

function OfNode({ id, name }: { id: number; name: string }) {
  return (
    <LinkTo to="/staff/nodes/$id" params={{ id: String(id) }}>
      {name}
    </LinkTo>
  );
}
