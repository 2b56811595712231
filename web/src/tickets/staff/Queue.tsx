import { useSearch } from '@tanstack/react-router';
import type { Schema } from '../../../../client/index.ts';
import { ticketQueue } from '../../data/queries/staff/index.ts';
import { ticketPriorities, ticketStates } from '../../data/states.ts';
import { moment } from '../../text/formats.ts';
import { useText } from '../../text/index.ts';
import { LinkTo, ListPage, Text, useColumns } from '../../ui/index.ts';
import { useDepartments } from './Departments.tsx';

/** What staff has to answer, what is due first first. */
export function Queue() {
  const { t } = useText();
  const { department } = useSearch({ strict: false }) as { department?: string };
  const { choices, refusal } = useDepartments(department);
  const columns = useColumns<Schema<'QueuedTicket'>>(
    ['subject', 'organization', 'department', 'priority', 'status', 'assigned', 'due_at'],
    {
      subject: ({ tid, subject }) => (
        <LinkTo to="/staff/tickets/$tid" params={{ tid }}>
          {subject}
        </LinkTo>
      ),
      due_at: ({ due_at: due, overdue }) => due !== null && <Due due={due} isLate={overdue} />,
    },
  );
  return (
    <ListPage
      title={t('staff.queue')}
      list={ticketQueue}
      columns={columns}
      filters={[
        { name: 'search' },
        { name: 'status', of: ticketStates },
        { name: 'priority', of: ticketPriorities },
        { name: 'department', of: choices },
        {
          name: 'sort',
          isOrder: true,
          of: ['due', '-lastReply', 'lastReply'].map((value) => ({
            value,
            label: t(
              value === 'due'
                ? 'support.sortDue'
                : value === 'lastReply'
                  ? 'support.sortOld'
                  : 'support.sortNew',
            ),
          })),
        },
      ]}
      empty={t('support.noTickets')}
    >
      {refusal}
    </ListPage>
  );
}

function Due({ due, isLate }: { due: string; isLate: boolean }) {
  const { t, language } = useText();
  const when = moment(due, language);
  return isLate ? (
    <Text component="span" c="var(--mantine-color-error)" fw={600}>
      {t('support.late', { when })}
    </Text>
  ) : (
    when
  );
}
