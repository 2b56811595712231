import { useQuery } from '@tanstack/react-query';
import type { Schema } from '../../../../client/index.ts';
import { figures } from '../../data/queries/staff/index.ts';
import { moment, money, month } from '../../text/formats.ts';
import { useText } from '../../text/index.ts';
import { Fact, List, Page, Refusal, Section, Skeleton, Text } from '../../ui/index.ts';

type Month = Schema<'Figures'>['currencies'][number]['months'][number];

const ages = ['not_due', 'days_0_30', 'days_31_60', 'days_61_90', 'days_over_90'] as const;

/** What the company earns, month after month; docs/operations/figures.md says what each figure means. */
export function Figures() {
  const { t, language } = useText();
  const read = useQuery(figures());
  return (
    <Page title={t('staff.figuresPage')}>
      {read.error && <Refusal error={read.error} onRetry={() => void read.refetch()} />}
      {read.isLoading && <Skeleton height={220} />}
      {read.data !== undefined && (
        <Text c="dimmed">{t('money.asOf', { time: moment(read.data.as_of, language) })}</Text>
      )}
      {read.data?.currencies.length === 0 && <Text c="dimmed">{t('empty.figures')}</Text>}
      {read.data?.currencies.map(({ currency, months, open }) => {
        const amount = (value: string) => money(value, currency, language);
        const column = (name: string, of: (month: Month) => string) => ({
          ...{ name, isNumber: true, cell: (month: Month) => amount(of(month)) },
        });
        return (
          <Section key={currency} title={currency}>
            <div className="facts">
              <Fact name={t('staff.openInvoices', { count: open.invoices })}>{amount(open.total)}</Fact>
              {ages.map((age) => (
                <Fact key={age} name={t(`money.${age}`)}>
                  {amount(open[age])}
                </Fact>
              ))}
            </div>
            <List
              label={`${t('staff.figuresPage')} ${currency}`}
              items={months.toReversed()}
              keyOf={({ month }) => month}
              columns={[
                { name: t('field.month'), cell: ({ month: of }) => month(of, language) },
                column(t('staff.new'), ({ recurring }) => recurring.new),
                column(t('money.expanded'), ({ recurring }) => recurring.expanded),
                column(t('money.contracted'), ({ recurring }) => recurring.contracted),
                column(t('staff.lost'), ({ recurring }) => recurring.lost),
                column(t('staff.recurring'), ({ recurring }) => recurring.end),
                column(t('money.earned'), ({ earned }) => earned),
                column(t('staff.cashIn'), ({ cash_in: came }) => came),
                column(t('money.cashOut'), ({ cash_out: went }) => went),
              ]}
              error={null}
              onRetry={() => undefined}
              empty={<Text c="dimmed">{t('empty.figures')}</Text>}
            />
          </Section>
        );
      })}
    </Page>
  );
}
