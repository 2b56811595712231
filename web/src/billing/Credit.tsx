import { useInfiniteQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { topUpCredit } from '../../../client/generated/fields/topUpCredit.ts';
import { client } from '../data/client.ts';
import { creditEntries, moreOf, queryClient } from '../data/queries/index.ts';
import { moment, money } from '../text/formats.ts';
import { useText } from '../text/index.ts';
import { Choice, Fact, Field, Form, LinkTo, List, Page, Section, SimpleGrid, Text } from '../ui/index.ts';
import { BillingTabs } from './BillingTabs.tsx';

/** Money that was paid before there was an invoice for it: what there is, where it came from and went. */
export function Credit() {
  const { t, language } = useText();
  const navigate = useNavigate();
  const found = useInfiniteQuery(creditEntries);
  const credits = found.data?.pages[0]?.credits ?? [];
  return (
    <Page title={t('billing.credit')}>
      <BillingTabs />
      <Section title={t('billing.balance')}>
        {credits.length === 0 ? (
          <Text c="dimmed">{t('billing.noCreditYet')}</Text>
        ) : (
          <SimpleGrid cols={{ base: 1, xs: 2, md: 4 }}>
            {credits.map(({ balance, currency }) => (
              <Fact key={currency} name={currency}>
                <Text fw={700}>{money(balance, currency, language)}</Text>
              </Fact>
            ))}
          </SimpleGrid>
        )}
        <Text>{t('billing.topUpText')}</Text>
        <Form
          fields={topUpCredit}
          submit={t('billing.topUp')}
          onSubmit={async ({ amount = '', currency = 'EUR' }) => {
            const plain = amount.replace(',', '.');
            const body = { amount: plain.includes('.') ? plain : `${plain}.00`, currency };
            const { invoice_id } = await client.post('/dashboard/credit/top-up', { body });
            await queryClient.invalidateQueries({ queryKey: ['invoices'] });
            await navigate({ to: '/invoices/$id', params: { id: String(invoice_id) } });
          }}
        >
          <SimpleGrid cols={{ base: 1, sm: 2 }}>
            <Field name="amount" label={t('billing.amount')} defaultValue="50.00" />
            <Choice
              name="currency"
              required
              label={t('billing.currency')}
              choices={[...new Set([...credits.map(({ currency }) => currency), 'EUR'])].map((value) => ({
                value,
                label: value,
              }))}
            />
          </SimpleGrid>
        </Form>
      </Section>
      <List
        label={t('billing.transactions')}
        items={found.data?.pages.flatMap((page) => page.transactions)}
        keyOf={({ currency, number }) => `${currency} ${number}`}
        columns={[
          {
            name: t('billing.item'),
            cell: ({ description, invoice_id: id }) =>
              id === null ? (
                description
              ) : (
                <LinkTo to="/invoices/$id" params={{ id: String(id) }}>
                  {description}
                </LinkTo>
              ),
          },
          { name: t('activity.when'), cell: ({ created_at }) => moment(created_at, language) },
          {
            name: t('billing.amount'),
            isNumber: true,
            cell: ({ amount, currency }) => money(amount, currency, language),
          },
          {
            name: t('billing.balance'),
            isNumber: true,
            cell: ({ balance, currency }) => money(balance, currency, language),
          },
        ]}
        error={found.error}
        onRetry={() => void found.refetch()}
        empty={<Text fw={600}>{t('billing.noTransactions')}</Text>}
        more={moreOf(found)}
      />
    </Page>
  );
}
