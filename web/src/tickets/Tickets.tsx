import { useInfiniteQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { moreOf, tickets } from '../data/queries/index.ts';
import { ticketStates } from '../data/states.ts';
import { moment } from '../text/formats.ts';
import { useText } from '../text/index.ts';
import { LinkButton, LinkTo, List, NativeSelect, Page, State, Text } from '../ui/index.ts';

export function Tickets() {
  const { t, language } = useText();
  const filter = useSearch({ from: '/in/tickets' });
  const navigate = useNavigate({ from: '/tickets' });
  const found = useInfiniteQuery(tickets(filter));
  return (
    <Page title={t('tickets.title')} aside={<LinkButton to="/tickets/new">{t('tickets.new')}</LinkButton>}>
      <NativeSelect
        label={t('services.status')}
        maw={240}
        value={filter.status ?? ''}
        onChange={({ currentTarget: { value } }) =>
          void navigate({ search: { status: ticketStates.find((each) => each === value) }, replace: true })
        }
        data={[
          { value: '', label: t('app.all') },
          ...ticketStates.map((value) => ({ value, label: t(`status.${value}`) })),
        ]}
      />
      <List
        label={t('tickets.title')}
        items={found.data?.pages.flatMap((page) => page.tickets)}
        keyOf={({ tid }) => tid}
        columns={[
          {
            name: t('tickets.subject'),
            cell: ({ tid, subject }) => (
              <LinkTo to="/tickets/$tid" params={{ tid }}>
                {subject}
              </LinkTo>
            ),
          },
          { name: t('services.status'), cell: ({ status }) => <State of={status} /> },
          { name: t('tickets.priority'), cell: ({ priority }) => t(`tickets.${priority}`) },
          {
            name: t('tickets.lastReply'),
            isNumber: true,
            cell: ({ lastReply }) => moment(lastReply, language),
          },
        ]}
        error={found.error}
        onRetry={() => void found.refetch()}
        empty={
          filter.status === undefined ? (
            <>
              <Text fw={600}>{t('tickets.none')}</Text>
              <Text c="dimmed">{t('tickets.noneText')}</Text>
            </>
          ) : (
            <Text fw={600}>{t('tickets.noneFound')}</Text>
          )
        }
        more={moreOf(found)}
      />
    </Page>
  );
}
