import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { departments, moreOf, type TicketFilter, tickets } from '../data/queries/index.ts';
import { ticketOrders, ticketPriorities, ticketStates } from '../data/states.ts';
import { moment } from '../text/formats.ts';
import { useText } from '../text/index.ts';
import {
  Group,
  LinkButton,
  LinkTo,
  List,
  NativeSelect,
  Page,
  State,
  Text,
  TextInput,
  useDebouncedCallback,
  useOwnWords,
} from '../ui/index.ts';

const orderNames = {
  '-lastReply': 'tickets.newestMessage',
  lastReply: 'tickets.oldestMessage',
  '-created_at': 'tickets.newestTicket',
  created_at: 'tickets.oldestTicket',
} as const;

export function Tickets() {
  const { t, language } = useText();
  const ownWords = useOwnWords('tickets');
  const filter = useSearch({ from: '/in/tickets' });
  const found = useInfiniteQuery(tickets(filter));
  const offered = useQuery(departments);
  const nameOf = (slug: string) => offered.data?.find((each) => each.slug === slug)?.name ?? slug;
  const isFiltered = Object.entries(filter).some(([name, value]) => name !== 'sort' && value !== undefined);
  return (
    <Page title={t('tickets.title')} aside={<LinkButton to="/tickets/new">{t('tickets.new')}</LinkButton>}>
      <Filters filter={filter} departments={offered.data ?? []} />
      <List
        label={t('tickets.title')}
        items={found.data?.pages.flatMap((page) => page.tickets)}
        keyOf={({ tid }) => tid}
        columns={[
          {
            name: t('tickets.subject'),
            cell: ({ tid, subject, department }) => (
              <div>
                <LinkTo to="/tickets/$tid" params={{ tid }}>
                  {subject}
                </LinkTo>
                <Text size="sm" c="dimmed">
                  #{tid} · {nameOf(department)}
                </Text>
              </div>
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
        failed={t('tickets.failed')}
        onRetry={() => void found.refetch()}
        empty={
          isFiltered ? (
            <>
              <Text fw={600}>{t('tickets.noneFound')}</Text>
              <LinkButton to="/tickets" variant="default">
                {t('tickets.showAll')}
              </LinkButton>
            </>
          ) : (
            <>
              <Text fw={600}>{t('tickets.none')}</Text>
              <Text c="dimmed" ta="center" className="message">
                {ownWords ?? t('tickets.noneText')}
              </Text>
              <LinkButton to="/tickets/new">{t('tickets.new')}</LinkButton>
            </>
          )
        }
        more={moreOf(found)}
      />
    </Page>
  );
}

interface FiltersProps {
  filter: TicketFilter;
  departments: readonly { slug: string; name: string }[];
}

/** What the list is narrowed to and how it is ordered, which stands in the address. */
function Filters({ filter, departments: offered }: FiltersProps) {
  const { t } = useText();
  const navigate = useNavigate({ from: '/tickets' });
  const change = (part: TicketFilter) =>
    void navigate({ search: (before: TicketFilter) => ({ ...before, ...part }), replace: true });
  const search = useDebouncedCallback((text: string) => change({ search: text.trim() || undefined }), 250);
  const all = { value: '', label: t('app.all') };
  return (
    <Group align="end">
      <TextInput
        type="search"
        label={t('tickets.search')}
        defaultValue={filter.search}
        onChange={({ currentTarget: { value } }) => search(value)}
        miw={{ base: '100%', xs: 240 }}
      />
      <NativeSelect
        label={t('services.status')}
        value={filter.status ?? ''}
        onChange={({ currentTarget: { value } }) =>
          change({ status: ticketStates.find((each) => each === value) })
        }
        data={[all, ...ticketStates.map((value) => ({ value, label: t(`status.${value}`) }))]}
      />
      <NativeSelect
        label={t('tickets.priority')}
        value={filter.priority ?? ''}
        onChange={({ currentTarget: { value } }) =>
          change({ priority: ticketPriorities.find((each) => each === value) })
        }
        data={[all, ...ticketPriorities.map((value) => ({ value, label: t(`tickets.${value}`) }))]}
      />
      <NativeSelect
        label={t('tickets.department')}
        value={filter.department ?? ''}
        onChange={({ currentTarget: { value } }) => change({ department: value || undefined })}
        data={[all, ...offered.map(({ slug, name }) => ({ value: slug, label: name }))]}
      />
      <NativeSelect
        label={t('tickets.order')}
        // What is searched for comes in the order of its newest messages, whatever was chosen.
        disabled={filter.search !== undefined}
        value={filter.search === undefined ? (filter.sort ?? ticketOrders[0]) : ticketOrders[0]}
        onChange={({ currentTarget: { value } }) =>
          change({ sort: ticketOrders.find((each) => each === value) })
        }
        data={ticketOrders.map((value) => ({ value, label: t(orderNames[value]) }))}
      />
    </Group>
  );
}
