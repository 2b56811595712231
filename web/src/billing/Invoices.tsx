import { useInfiniteQuery, useMutation } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { client } from '../data/client.ts';
import { invoices, moreOf } from '../data/queries/index.ts';
import { saveFile } from '../data/saveFile.ts';
import { invoiceStates } from '../data/states.ts';
import { day, money } from '../text/formats.ts';
import { useText } from '../text/index.ts';
import {
  Button,
  Fact,
  Group,
  LinkTo,
  List,
  NativeSelect,
  Page,
  Refusal,
  State,
  Text,
  TextInput,
  useDebouncedCallback,
  useOwnWords,
} from '../ui/index.ts';
import { BillingTabs } from './BillingTabs.tsx';
import { useInvoiceName } from './useInvoiceName.ts';

export function Invoices() {
  const { t, language } = useText();
  const ownWords = useOwnWords('invoices');
  const filter = useSearch({ from: '/in/billing' });
  const navigate = useNavigate({ from: '/billing' });
  const found = useInfiniteQuery(invoices(filter));
  const nameOf = useInvoiceName();
  const take = useMutation({
    mutationFn: async () => saveFile(await client.file('/dashboard/invoices/export'), 'invoices.csv'),
  });
  const look = useDebouncedCallback(
    (search: string) =>
      void navigate({
        search: (before: typeof filter) => ({ ...before, search: search || undefined }),
        replace: true,
      }),
    200,
  );
  const isFiltered = filter.status !== undefined || filter.search !== undefined;
  const [first] = found.data?.pages ?? [];
  return (
    <Page
      title={t('billing.title')}
      aside={
        <Button variant="default" loading={take.isPending} onClick={() => take.mutate()}>
          {t('billing.export')}
        </Button>
      }
    >
      <BillingTabs />
      <Refusal error={take.error} />
      <Group align="end" gap="xl">
        <TextInput
          type="search"
          label={t('billing.search')}
          defaultValue={filter.search}
          onChange={({ currentTarget: { value } }) => look(value)}
        />
        <NativeSelect
          label={t('billing.state')}
          value={filter.status ?? ''}
          onChange={({ currentTarget: { value } }) =>
            void navigate({
              search: { ...filter, status: invoiceStates.find((each) => each === value) },
              replace: true,
            })
          }
          data={[
            { value: '', label: t('app.all') },
            ...invoiceStates.map((value) => ({ value, label: t(`status.${value}`) })),
          ]}
        />
        {first !== undefined && (
          <Fact name={t('billing.credit')}>
            {money(first.credit_balance, first.credit_currency, language)}
          </Fact>
        )}
      </Group>
      <List
        label={t('billing.invoices')}
        items={found.data?.pages.flatMap((page) => page.invoices)}
        keyOf={({ id }) => id}
        columns={[
          {
            name: t('billing.number'),
            cell: (each) => (
              <LinkTo to="/invoices/$id" params={{ id: String(each.id) }}>
                {nameOf(each)}
              </LinkTo>
            ),
          },
          {
            name: t('billing.state'),
            cell: ({ status, overdue }) => <State of={overdue ? 'overdue' : status} />,
          },
          { name: t('billing.created'), cell: ({ created_at }) => day(created_at, language) },
          { name: t('billing.due'), cell: ({ duedate }) => day(duedate, language) },
          {
            name: t('billing.total'),
            isNumber: true,
            cell: ({ total, currency }) => money(total, currency, language),
          },
        ]}
        error={found.error}
        onRetry={() => void found.refetch()}
        empty={
          <>
            <Text fw={600}>{t(isFiltered ? 'billing.noneFound' : 'billing.none')}</Text>
            {!isFiltered && ownWords !== null && (
              <Text c="dimmed" ta="center" className="message">
                {ownWords}
              </Text>
            )}
          </>
        }
        more={moreOf(found)}
      />
    </Page>
  );
}
