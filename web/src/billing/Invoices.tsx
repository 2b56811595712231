import { useInfiniteQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { invoices, moreOf } from '../data/queries/index.ts';
import { invoiceStates } from '../data/states.ts';
import { day, money } from '../text/formats.ts';
import { useText } from '../text/index.ts';
import { Fact, Group, LinkTo, List, NativeSelect, Page, State, Text } from '../ui/index.ts';
import { useInvoiceName } from './useInvoiceName.ts';

export function Invoices() {
  const { t, language } = useText();
  const filter = useSearch({ from: '/in/billing' });
  const navigate = useNavigate({ from: '/billing' });
  const found = useInfiniteQuery(invoices(filter));
  const nameOf = useInvoiceName();
  const [first] = found.data?.pages ?? [];
  return (
    <Page
      title={t('billing.title')}
      aside={<LinkTo to="/billing/payment-methods">{t('billing.methods')}</LinkTo>}
    >
      <Group align="end" gap="xl">
        <NativeSelect
          label={t('billing.state')}
          value={filter.status ?? ''}
          onChange={({ currentTarget: { value } }) =>
            void navigate({ search: { status: invoiceStates.find((each) => each === value) }, replace: true })
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
        empty={<Text fw={600}>{t(filter.status === undefined ? 'billing.none' : 'billing.noneFound')}</Text>}
        more={moreOf(found)}
      />
    </Page>
  );
}
