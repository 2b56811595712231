import type { Schema } from '../../../../client/index.ts';
import { staffServices } from '../../data/queries/staff/index.ts';
import { serviceStates } from '../../data/states.ts';
import { useText } from '../../text/index.ts';
import { LinkTo, ListPage, useColumns } from '../../ui/index.ts';

export function StaffServices() {
  const { t } = useText();
  const columns = useColumns<Schema<'StaffService'>>(
    ['name', 'organization', 'product', 'status', 'primary_ip', 'price', 'duedate'],
    {
      name: ({ id, domain }) => (
        <LinkTo to="/staff/services/$id" params={{ id: String(id) }}>
          {domain ?? t('services.untitled', { id })}
        </LinkTo>
      ),
      organization: ({ organization: { id, name } }) => (
        <LinkTo to="/staff/organizations/$id" params={{ id: String(id) }}>
          {name}
        </LinkTo>
      ),
    },
  );
  return (
    <ListPage
      title={t('staff.services')}
      empty={t('empty.services')}
      list={staffServices}
      filters={[{ name: 'search' }, { name: 'status', of: serviceStates }, { name: 'organization_id' }]}
      columns={columns}
    />
  );
}
