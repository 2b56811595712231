import { dismissJob } from '../../../../client/generated/fields/dismissJob.ts';
import type { Schema } from '../../../../client/index.ts';
import { client } from '../../data/client.ts';
import { failedJobs } from '../../data/queries/staff/index.ts';
import { useText } from '../../text/index.ts';
import { Act, Group, ListPage, NamedLong, Text, useColumns } from '../../ui/index.ts';

/** Jobs that failed, are stuck, or try again and again. */
export function Jobs() {
  const { t } = useText();
  const columns = useColumns<Schema<'Job'>>(
    ['name', 'state', 'reason', 'organization_id', 'created_at', 'actions'],
    {
      state: ({ state }) => t(`running.job_${state}`),
      reason: ({ error_step: step, error_message: message, stuck_reason: stuck }) => (
        <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
          {[step, stuck ?? message].filter(Boolean).join(': ')}
        </Text>
      ),
      actions: ({ id }) => (
        <Group gap="xs">
          <Act
            operation="retryJob"
            label={t('staff.retry')}
            onAct={() => client.post('/staff/jobs/{id}/retry', { path: { id } })}
          />
          <Act
            operation="dismissJob"
            fields={dismissJob}
            label={t('staff.dismiss')}
            text={t('staff.dismissText')}
            onAct={({ reason = '' }) =>
              client.post('/staff/jobs/{id}/dismiss', { path: { id }, body: { reason } })
            }
          >
            <NamedLong name="reason" />
          </Act>
        </Group>
      ),
    },
  );
  return (
    <ListPage
      title={t('staff.jobs')}
      text={t('running.jobsText')}
      list={failedJobs}
      columns={columns}
      empty={t('running.noJobs')}
    />
  );
}
