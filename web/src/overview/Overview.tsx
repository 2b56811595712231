import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { invoices, services, session, tickets } from '../data/queries/index.ts';
import { useServiceColumns } from '../services/columns.tsx';
import { day } from '../text/formats.ts';
import { useText } from '../text/index.ts';
import {
  Group,
  LinkButton,
  LinkTo,
  List,
  Page,
  Paper,
  Refusal,
  Skeleton,
  Stack,
  Text,
  Title,
} from '../ui/index.ts';

/** What needs me, then what is mine. */
export function Overview() {
  const { t } = useText();
  const mine = useInfiniteQuery(services({ status: 'active' }));
  return (
    <Page title={t('overview.title')}>
      <NeedsYou />
      <Stack gap="sm">
        <Group justify="space-between">
          <Title order={2} size="h4">
            {t('overview.yourServices')}
          </Title>
          <LinkTo to="/services">{t('overview.allServices')}</LinkTo>
        </Group>
        <List
          label={t('overview.yourServices')}
          items={mine.data?.pages[0]?.services.slice(0, 10)}
          keyOf={({ id }) => id}
          columns={useServiceColumns()}
          error={mine.error}
          onRetry={() => void mine.refetch()}
          empty={
            <>
              <Text fw={600}>{t('services.none')}</Text>
              <Text c="dimmed">{t('services.noneText')}</Text>
              <LinkButton to="/order">{t('services.order')}</LinkButton>
            </>
          }
        />
      </Stack>
    </Page>
  );
}

function NeedsYou() {
  const { t, language } = useText();
  const { data: signedIn } = useQuery(session);
  const may: ReadonlySet<string> = new Set(signedIn?.organization?.permissions);
  const unpaid = useInfiniteQuery({ ...invoices({ status: 'unpaid' }), enabled: may.has('billing.read') });
  const answered = useInfiniteQuery({ ...tickets({ status: 'answered' }), enabled: may.has('ticket.read') });
  const bills = unpaid.data?.pages[0]?.invoices ?? [];
  const answers = answered.data?.pages[0]?.tickets ?? [];
  const isReading = unpaid.isLoading || answered.isLoading;
  const isNothing = bills.length + answers.length === 0 && !unpaid.error && !answered.error;
  return (
    <Stack gap="sm">
      <Title order={2} size="h4">
        {t('overview.needsYou')}
      </Title>
      {unpaid.error && <Refusal error={unpaid.error} onRetry={() => void unpaid.refetch()} />}
      {answered.error && <Refusal error={answered.error} onRetry={() => void answered.refetch()} />}
      <Paper withBorder p="md">
        {isReading && <Skeleton height={20} width="60%" />}
        {!isReading && isNothing && <Text c="dimmed">{t('overview.nothing')}</Text>}
        <Stack gap="sm">
          {bills.map(({ id, number, duedate, overdue }) => (
            <Group key={id} justify="space-between">
              <Text>
                {t(overdue ? 'overview.overdue' : 'overview.unpaid', {
                  number: number ?? id,
                  day: day(duedate, language),
                })}
              </Text>
              <LinkButton to="/invoices/$id" params={{ id: String(id) }} size="xs">
                {t('overview.pay')}
              </LinkButton>
            </Group>
          ))}
          {answers.map(({ tid, subject }) => (
            <Group key={tid} justify="space-between">
              <Text style={{ overflowWrap: 'anywhere' }}>{t('overview.answered', { subject })}</Text>
              <LinkButton to="/tickets/$tid" params={{ tid }} size="xs" variant="default">
                {t('overview.read')}
              </LinkButton>
            </Group>
          ))}
        </Stack>
      </Paper>
    </Stack>
  );
}
