import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { assignTicket } from '../../../../client/generated/fields/assignTicket.ts';
import { mergeTicket } from '../../../../client/generated/fields/mergeTicket.ts';
import { splitTicket } from '../../../../client/generated/fields/splitTicket.ts';
import { updateTicket } from '../../../../client/generated/fields/updateTicket.ts';
import type { Schema } from '../../../../client/index.ts';
import { client } from '../../data/client.ts';
import { drawnOf, partOf, shown } from '../../data/drawn.ts';
import { useMay } from '../../data/may.ts';
import { session } from '../../data/queries/index.ts';
import { staffPeople, staffTicket } from '../../data/queries/staff/index.ts';
import { useText } from '../../text/index.ts';
import { Act, Group, Named, NamedChoice, Tick } from '../../ui/index.ts';
import { Departments } from './Departments.tsx';
import type { SetState } from './states.ts';

type StaffTicket = Schema<'StaffTicket'>;

/** What staff sorts a ticket by. Customers and colleagues go on writing to it meanwhile. */
const sorted = shown(['subject', 'department', 'priority', 'service_id']);

export function TicketActs({ ticket }: { ticket: StaffTicket }) {
  const { t } = useText();
  const path = { tid: ticket.tid };
  const { data: mine } = useQuery(session);
  const may = useMay();
  const assign = (id: number | null) =>
    client.post('/staff/tickets/{tid}/assign', { path, body: { user_id: id } });
  const turned = ticket.status === 'closed' ? 'in_progress' : 'closed';
  return (
    <Group gap="xs">
      {ticket.assigned?.id === mine?.user.id ? (
        <Act operation="assignTicket" label={t('support.letGo')} onAct={() => assign(null)} />
      ) : (
        <Act operation="assignTicket" label={t('support.take')} onAct={() => assign(mine?.user.id ?? null)} />
      )}
      {may('listStaff') && (
        <Act
          operation="assignTicket"
          fields={assignTicket}
          label={t('support.assign')}
          onAct={({ assigned }) => assign(assigned === undefined ? null : Number(assigned))}
        >
          <Colleagues value={ticket.assigned?.id} />
        </Act>
      )}
      <Act
        operation="updateTicket"
        label={t(ticket.status === 'closed' ? 'support.reopen' : 'support.close')}
        ahead={{
          of: staffTicket(path).queryKey,
          becomes: (now: { ticket: StaffTicket }) => ({ ...now, ticket: { ...now.ticket, status: turned } }),
        }}
        onAct={() => client.patch('/staff/tickets/{tid}', { path, body: { status: turned } })}
      />
      <Act
        operation="updateTicket"
        fields={updateTicket}
        label={t('support.change')}
        of={partOf(drawnOf('/staff/tickets/{tid}', { path }), ({ ticket: whole }) => sorted(whole))}
        onAct={({ subject, department, priority, status, service_id: service }, _files, ifMatch) =>
          client.patch('/staff/tickets/{tid}', {
            ifMatch,
            path,
            body: {
              ...{ subject, department, priority: priority as Schema<'TicketPriority'> },
              ...(status !== undefined && { status: status as SetState }),
              service_id: service === undefined ? null : Number(service),
            },
          })
        }
      >
        {(now) => (
          <>
            <Named name="subject" value={now.subject} />
            <Departments value={now.department} />
            <NamedChoice name="priority" value={now.priority} />
            <NamedChoice name="status" isOptional />
            <Named name="service_id" value={now.service_id} isOptional />
          </>
        )}
      </Act>
      <Act
        operation="mergeTicket"
        fields={mergeTicket}
        label={t('support.merge')}
        text={t('support.mergeText')}
        onAct={({ tid: into = '' }) => client.post('/staff/tickets/{tid}/merge', { path, body: { into } })}
      >
        <Named name="tid" />
      </Act>
      <Act
        operation="splitTicket"
        fields={splitTicket}
        label={t('support.split')}
        text={t('support.splitText')}
        onAct={({ subject = '', ...ticked }) =>
          client.post('/staff/tickets/{tid}/split', {
            path,
            body: { subject, message_ids: Object.keys(ticked).map(Number) },
          })
        }
      >
        <Named name="subject" />
        {ticket.messages.map(({ id, name, message }) => (
          <Tick key={id} name={String(id)} label={`${name}: ${message.slice(0, 80)}`} />
        ))}
      </Act>
    </Group>
  );
}

function Colleagues({ value }: { value: number | undefined }) {
  const { data } = useInfiniteQuery(staffPeople());
  const people = data?.pages.flatMap((page) => page.items) ?? [];
  return (
    <NamedChoice
      key={people.length}
      name="assigned"
      isOptional
      value={value}
      of={people.map(({ id, first_name: first, last_name: last }) => ({
        value: String(id),
        label: `${first} ${last}`,
      }))}
    />
  );
}
