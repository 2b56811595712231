import { useParams } from '@tanstack/react-router';
import { finishServiceByHand } from '../../../../client/generated/fields/finishServiceByHand.ts';
import { promisePaymentOfService } from '../../../../client/generated/fields/promisePaymentOfService.ts';
import { suspendService } from '../../../../client/generated/fields/suspendService.ts';
import { terminateService } from '../../../../client/generated/fields/terminateService.ts';
import type { Schema } from '../../../../client/index.ts';
import { client } from '../../data/client.ts';
import { useMay } from '../../data/may.ts';
import { audit, staffService } from '../../data/queries/staff/index.ts';
import { moment } from '../../text/formats.ts';
import { useText } from '../../text/index.ts';
import {
  Act,
  Alert,
  Facts,
  Group,
  LinkTo,
  Named,
  NamedChoice,
  NamedLong,
  Page,
  Section,
  StaffList,
  State,
  Text,
  Thing,
  Unfold,
  useAuditColumns,
} from '../../ui/index.ts';

type Service = Schema<'StaffService'>;

const tasks = finishServiceByHand.task.choices;

export function StaffService() {
  const { t } = useText();
  const { id = '' } = useParams({ strict: false });
  return (
    <Thing title={t('services.untitled', { id })} query={staffService({ id: Number(id) })}>
      {({ service }) => <Shown of={service} />}
    </Thing>
  );
}

function Shown({ of: service }: { of: Service }) {
  const { t, language } = useText();
  const may = useMay();
  const name = service.domain ?? t('services.untitled', { id: service.id });
  return (
    <Page title={name} aside={<State of={service.status} />}>
      {service.waiting.map((each) => (
        <Alert key={each.for} color={each.by === 'staff' ? 'red' : 'blue'}>
          <Text>{each.message}</Text>
          <Text size="sm">{moment(each.since, language)}</Text>
        </Alert>
      ))}
      <Acts of={service} name={name} />
      <Section title={t('customers.service')}>
        <Facts
          of={service}
          names={[
            ...([
              'organization',
              'product',
              'type',
              'provisioning_state',
              'primary_ip',
              'hostname',
              'node_id',
            ] as const),
            ...(['price', 'billingCycle', 'duedate', 'auto_renew', 'promised_until', 'invoice_id'] as const),
            ...(['suspend_reason', 'suspended_at', 'end_reason', 'created_at'] as const),
          ]}
          cells={{
            organization: ({ organization }) => (
              <LinkTo to="/staff/organizations/$id" params={{ id: String(organization.id) }}>
                {organization.name}
              </LinkTo>
            ),
            invoice_id: ({ invoice_id: id }) => (
              <LinkTo to="/staff/invoices/$id" params={{ id: String(id) }}>
                {id}
              </LinkTo>
            ),
          }}
        />
      </Section>
      {may('listAudit') && (
        <Unfold title={t('customers.activity')}>
          <Activity id={service.id} />
        </Unfold>
      )}
    </Page>
  );
}

function Activity({ id }: { id: number }) {
  const { t } = useText();
  const columns = useAuditColumns([]);
  return (
    <StaffList
      label={t('customers.activity')}
      empty={t('empty.activity')}
      query={audit({ subject_type: 'service', subject_id: id, limit: 20 })}
      columns={columns}
    />
  );
}

function Acts({ of: service, name }: { of: Service; name: string }) {
  const { t } = useText();
  const path = { id: service.id };
  const waits = new Set(service.waiting.map((each) => each.for));
  return (
    <Group gap="xs">
      {service.provisioning_state === 'failed' && (
        <Act
          operation="retryServiceDelivery"
          label={t('staff.retry')}
          isFirst
          onAct={() => client.post('/staff/services/{id}/retry', { path })}
        />
      )}
      {waits.has('delivery') && (
        <Act
          operation="deliverServiceByHand"
          label={t('staff.delivered')}
          text={t('staff.deliveredText')}
          onAct={() => client.post('/staff/services/{id}/deliver', { path })}
        />
      )}
      {tasks.some((task) => waits.has(task)) && (
        <Act
          operation="finishServiceByHand"
          fields={finishServiceByHand}
          label={t('customers.done')}
          text={t('customers.doneText')}
          onAct={({ task }) =>
            client.post('/staff/services/{id}/done', { path, body: { task: task as (typeof tasks)[number] } })
          }
        >
          <NamedChoice
            name="task"
            of={tasks
              .filter((task) => waits.has(task))
              .map((value) => ({ value, label: t(`task.${value}`) }))}
          />
        </Act>
      )}
      <Act
        operation="promisePaymentOfService"
        fields={promisePaymentOfService}
        label={t('customers.promise')}
        text={t('customers.promiseText')}
        onAct={({ until, note }) =>
          client.post('/staff/services/{id}/promise', { path, body: { until: until ?? null, note } })
        }
      >
        <Named name="until" type="date" value={service.promised_until} isOptional />
        <NamedLong name="note" isOptional />
      </Act>
      {service.status === 'suspended' ? (
        <Act
          operation="unsuspendService"
          label={t('customers.unsuspend')}
          text={t('customers.unsuspendText')}
          onAct={() => client.post('/staff/services/{id}/unsuspend', { path })}
        />
      ) : (
        <Act
          operation="suspendService"
          fields={suspendService}
          label={t('customers.suspend')}
          text={t('customers.suspendText')}
          isDangerous
          onAct={({ reason = '' }) => client.post('/staff/services/{id}/suspend', { path, body: { reason } })}
        >
          <NamedLong name="reason" help={t('customers.toldHelp')} />
        </Act>
      )}
      <Act
        operation="terminateService"
        fields={terminateService}
        label={t('customers.terminate')}
        text={t('customers.terminateText')}
        name={name}
        isDangerous
        onAct={({ reason = '' }) => client.post('/staff/services/{id}/terminate', { path, body: { reason } })}
      >
        <NamedLong name="reason" help={t('customers.toldHelp')} />
      </Act>
    </Group>
  );
}
