import { useQuery } from '@tanstack/react-query';
import type { Schema } from '../../../../client/index.ts';
import { settings, ticketQueue } from '../../data/queries/staff/index.ts';
import { ticketStates } from '../../data/states.ts';
import { moment } from '../../text/formats.ts';
import { useText } from '../../text/index.ts';
import { LinkTo, ListPage, Text, useColumns } from '../../ui/index.ts';

export const priorities = ['low', 'medium', 'high', 'urgent'] as const;

/** What staff has to answer, what is due first first. */
export function Queue() {
  const { t } = useText();
  const { data } = useQuery(settings());
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
  const departments = data?.settings.support.departments ?? [];
  return (
    <ListPage
      title={t('staff.queue')}
      list={ticketQueue}
      columns={columns}
      filters={[
        { name: 'search' },
        { name: 'status', of: ticketStates },
        { name: 'priority', of: priorities },
        { name: 'department', of: departments.map(({ slug, name }) => ({ value: slug, label: name })) },
        {
          name: 'sort',
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
    />
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
