import type { Schema } from '../../../../client/index.ts';
import { staffOrganizations } from '../../data/queries/staff/index.ts';
import { useText } from '../../text/index.ts';
import { LinkTo, ListPage, useColumns } from '../../ui/index.ts';

export function Organizations() {
  const { t } = useText();
  const columns = useColumns<Schema<'StaffOrganization'>>(
    ['name', 'status', 'country', 'tax_id', 'members_count', 'created_at'],
    {
      name: ({ id, name }) => (
        <LinkTo to="/staff/organizations/$id" params={{ id: String(id) }}>
          {name}
        </LinkTo>
      ),
    },
  );
  return (
    <ListPage
      title={t('staff.organizations')}
      empty={t('empty.organizations')}
      list={staffOrganizations}
      filters={[{ name: 'search' }, { name: 'user_id' }]}
      columns={columns}
    />
  );
}
