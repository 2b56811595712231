import { audit } from '../../data/queries/staff/index.ts';
import { useText } from '../../text/index.ts';
import { ListPage, useAuditColumns } from '../../ui/index.ts';

/** Everything that happened, and who did it. */
export function Audit() {
  const { t } = useText();
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
      columns={useAuditColumns(['organization', 'data'])}
      empty={t('empty.audit')}
    />
  );
}
