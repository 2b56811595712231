import { addStaff } from '../../../../client/generated/fields/addStaff.ts';
import { blockStaff } from '../../../../client/generated/fields/blockStaff.ts';
import { updateStaff } from '../../../../client/generated/fields/updateStaff.ts';
import type { Schema } from '../../../../client/index.ts';
import { client } from '../../data/client.ts';
import { drawnOf } from '../../data/drawn.ts';
import { staffPeople } from '../../data/queries/staff/index.ts';
import { useText } from '../../text/index.ts';
import { Act, Group, ListPage, Named, NamedChoice, NamedLong, useColumns } from '../../ui/index.ts';

type Role = Schema<'StaffRole'>;

export function StaffPeople() {
  const { t } = useText();
  const columns = useColumns<Schema<'StaffMember'>>(
    ['email', 'first_name', 'last_name', 'role', 'status', 'second_factor', 'last_activity_at', 'actions'],
    { actions: (member) => <Acts of={member} /> },
  );
  return (
    <ListPage
      title={t('staff.people')}
      empty={t('empty.people')}
      text={t('running.peopleText')}
      list={staffPeople}
      filters={[
        { name: 'role', of: addStaff.role.choices },
        { name: 'status', of: ['active', 'blocked'] },
      ]}
      columns={columns}
      aside={
        <Act
          operation="addStaff"
          fields={addStaff}
          label={t('running.newPerson')}
          text={t('running.newPersonText')}
          size="sm"
          isFirst
          onAct={({ email = '', first_name: first = '', last_name: last = '', role }) =>
            client.post('/staff/staff', {
              body: { email, first_name: first, last_name: last, role: role as Role },
            })
          }
        >
          <Named name="email" type="email" />
          <Named name="first_name" />
          <Named name="last_name" />
          <NamedChoice name="role" value="support" />
        </Act>
      }
    />
  );
}

function Acts({ of: member }: { of: Schema<'StaffMember'> }) {
  const { t } = useText();
  const path = { id: member.id };
  return (
    <Group gap="xs">
      <Act
        operation="updateStaff"
        fields={updateStaff}
        label={t('support.change')}
        of={drawnOf('/staff/staff/{id}', { path })}
        text={t('running.changePersonText')}
        onAct={({ first_name: first, last_name: last, role }, _files, ifMatch) =>
          client.patch('/staff/staff/{id}', {
            ifMatch,
            path,
            body: { first_name: first, last_name: last, role: role as Role },
          })
        }
      >
        {({ member: now }) => (
          <>
            <Named name="first_name" value={now.first_name} />
            <Named name="last_name" value={now.last_name} />
            <NamedChoice name="role" value={now.role} />
          </>
        )}
      </Act>
      {member.status === 'blocked' ? (
        <Act
          operation="unblockStaff"
          label={t('customers.unblock')}
          text={t('customers.unblockUserText')}
          onAct={() => client.post('/staff/staff/{id}/unblock', { path })}
        />
      ) : (
        <Act
          operation="blockStaff"
          fields={blockStaff}
          label={t('customers.block')}
          text={t('running.blockPersonText')}
          isDangerous
          onAct={({ reason = '' }) => client.post('/staff/staff/{id}/block', { path, body: { reason } })}
        >
          <NamedLong name="reason" />
        </Act>
      )}
      <Act
        operation="removeStaff"
        label={t('running.removePerson')}
        text={t('running.removePersonText')}
        name={member.email}
        isDangerous
        onAct={() => client.delete('/staff/staff/{id}', { path })}
      />
    </Group>
  );
}
