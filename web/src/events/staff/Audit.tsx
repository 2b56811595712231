import type { Schema } from '../../../../client/index.ts';
import { audit } from '../../data/queries/staff/index.ts';
import { useText } from '../../text/index.ts';
import { ListPage, Text, useColumns } from '../../ui/index.ts';

/** Everything that happened, and who did it. */
export function Audit() {
  const { t } = useText();
  const columns = useColumns<Schema<'AuditEntry'>>(
    ['action', 'subject', 'actor', 'organization_id', 'data', 'created_at'],
    {
      subject: ({ subject }) => `${subject.type} ${subject.id}`,
      actor: ({ actor }) => actor.email ?? t(`running.actor_${actor.type}`),
      data: ({ data }) => (
        <Text size="xs" ff="monospace" style={{ overflowWrap: 'anywhere' }}>
          {JSON.stringify(data)}
        </Text>
      ),
    },
  );
  return (
    <ListPage
      title={t('staff.audit')}
      list={audit}
      filters={[
        { name: 'organization_id' },
        { name: 'staff_id' },
        { name: 'subject_type' },
        { name: 'subject_id' },
      ]}
      columns={columns}
    />
  );
}
