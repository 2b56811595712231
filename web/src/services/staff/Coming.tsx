import { useInfiniteQuery } from '@tanstack/react-query';
import type { Schema } from '../../../../client/index.ts';
import { moreOf } from '../../data/queries/index.ts';
import { comingSteps } from '../../data/queries/staff/index.ts';
import { day, money } from '../../text/formats.ts';
import { useText } from '../../text/index.ts';
import { LinkTo, List, Page, Text, useWord } from '../../ui/index.ts';

type Step = Schema<'CalendarPreview'>['steps'][number];

/** What the calendar does in the next thirty days if nobody pays, and to whom. */
export function Coming() {
  const { t, language } = useText();
  const word = useWord();
  const read = useInfiniteQuery(comingSteps);
  const pages = read.data?.pages;
  const [first] = pages ?? [];
  return (
    <Page title={t('staff.coming')}>
      {first !== undefined && (
        <Text c="dimmed">
          {t('staff.fromUntil', { from: day(first.from, language), until: day(first.until, language) })} ·{' '}
          {t('staff.comingText')}
        </Text>
      )}
      <List<Step>
        label={t('staff.coming')}
        items={pages?.flatMap(({ steps }) => steps)}
        keyOf={({ on, step, service }) => `${service.id}.${step}.${on}`}
        error={read.error}
        onRetry={() => void read.refetch()}
        empty={<Text c="dimmed">{t('staff.nothingComes')}</Text>}
        more={moreOf(read)}
        columns={[
          {
            name: t('found.service'),
            cell: ({ service: { id, hostname, product } }) => (
              <LinkTo to="/staff/services/$id" params={{ id: String(id) }}>
                {hostname ?? product}
              </LinkTo>
            ),
          },
          { name: t('staff.comingOn'), cell: ({ on }) => day(on, language) },
          { name: t('staff.comingStep'), cell: ({ step }) => word(step) },
          {
            name: t('field.price'),
            isNumber: true,
            cell: ({ service: { price, currency } }) => money(price, currency, language),
          },
          { name: t('staff.comingProblem'), cell: ({ problem }) => problem ?? '' },
        ]}
      />
    </Page>
  );
}
