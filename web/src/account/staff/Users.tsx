import { addStaff } from '../../../../client/generated/fields/addStaff.ts';
import type { Schema } from '../../../../client/index.ts';
import { users } from '../../data/queries/staff/index.ts';
import { useText } from '../../text/index.ts';
import { LinkTo, ListPage, useColumns } from '../../ui/index.ts';

export function Users() {
  const { t } = useText();
  const columns = useColumns<Schema<'StaffUser'>>(
    ['email', 'first_name', 'last_name', 'status', 'email_verified', 'last_activity_at'],
    {
      email: ({ id, email }) => (
        <LinkTo to="/staff/users/$id" params={{ id: String(id) }}>
          {email}
        </LinkTo>
      ),
    },
  );
  return (
    <ListPage
      title={t('staff.users')}
      empty={t('empty.users')}
      list={users}
      filters={[
        { name: 'search' },
        { name: 'status', of: ['active', 'blocked', 'closed'] },
        { name: 'staff_role', of: addStaff.role.choices },
        { name: 'organization_id' },
      ]}
      columns={columns}
    />
  );
}
