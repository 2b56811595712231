import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import type { Schema } from '../../../../client/index.ts';
import { useMay } from '../../data/may.ts';
import { calendarPreview, concerns, figures, nodes } from '../../data/queries/staff/index.ts';
import { day, gigabytes, lasting, moment, money, percent } from '../../text/formats.ts';
import { isText, useText } from '../../text/index.ts';
import type en from '../../text/staff/staff.en.json';
import {
  Fact,
  FullIn,
  Group,
  LinkTo,
  List,
  Page,
  Paper,
  Progress,
  Refusal,
  Section,
  SimpleGrid,
  Skeleton,
  Spark,
  Stack,
  Text,
  Title,
  useWord,
} from '../../ui/index.ts';
import { ConcernActs } from './ConcernActs.tsx';
import { ConcernLink } from './ConcernLink.tsx';

/** What lacks before anything is sold, then what needs a person, then how the company stands. */
export function Today() {
  const { t } = useText();
  const may = useMay();
  return (
    <Page title={t('staff.today')}>
      <Lacks />
      <Concerns />
      <SimpleGrid cols={{ base: 1, lg: 2 }}>
        {may('previewCalendar') && <Coming />}
        {may('getFigures') && <Money />}
        {may('listNodes') && <Room />}
      </SimpleGrid>
      <House />
    </Page>
  );
}

type Lack = Schema<'Lack'>;

/** What the company lacks before it can sell; nothing once it lacks nothing. */
function Lacks() {
  const { t } = useText();
  const { data } = useQuery(concerns());
  if (data === undefined || data.lacks.length === 0) return null;
  return (
    <Section title={t('staff.beforeYouSell')}>
      <Stack component="ol" gap="xs" m={0} ps="lg">
        {data.lacks.map((lack) => (
          <LackOne key={lack.code} lack={lack} />
        ))}
      </Stack>
    </Section>
  );
}

function LackOne({ lack: { code, message, page } }: { lack: Lack }) {
  const { t } = useText();
  const name = code.replaceAll('.', '_');
  return (
    <Text component="li" style={{ overflowWrap: 'anywhere' }}>
      {isText(`lack.${name}`) ? t(`lack.${name as keyof typeof en.lack}`) : message}{' '}
      {page !== null && <LinkTo to={page}>{t('staff.mend')}</LinkTo>}
    </Text>
  );
}

type Concern = Schema<'Concern'>;

/** How many of a kind are shown before the rest is asked for. */
const shownOfAKind = 5;

function Concerns() {
  const { t } = useText();
  const read = useQuery(concerns());
  const kindName = (kind: string) => {
    const name = kind.replaceAll('.', '_');
    return isText(`concern.${name}`) ? t(`concern.${name as keyof typeof en.concern}`) : kind;
  };
  const kinds = Object.entries(Object.groupBy(read.data?.concerns ?? [], ({ kind }) => kind));
  return (
    <Stack gap="sm">
      <Title order={2} size="h4">
        {t('staff.needsPerson')}
      </Title>
      {read.error && <Refusal error={read.error} onRetry={() => void read.refetch()} />}
      {read.isLoading && <Skeleton height={120} />}
      {read.data?.concerns.length === 0 && (read.data.house.low ?? []).length === 0 && (
        <Paper withBorder p="md">
          <Text c="dimmed">{t('staff.nobodyNeeded')}</Text>
        </Paper>
      )}
      {read.data?.house.low?.map((each) => (
        <LowOne key={`${each.kind}.${each.id}.${each.what}`} low={each} />
      ))}
      {kinds.map(([kind, found = []]) => (
        <Section key={kind} title={t('staff.kindCount', { kind: kindName(kind), count: found.length })}>
          <Stack component="ul" gap="sm" p={0} m={0} style={{ listStyle: 'none' }}>
            {found.slice(0, shownOfAKind).map((concern) => (
              <One key={concern.subject.id} concern={concern} />
            ))}
          </Stack>
          {found.length > shownOfAKind && (
            <Text size="sm" c="dimmed">
              {t('staff.andMore', { count: found.length - shownOfAKind })}
            </Text>
          )}
        </Section>
      ))}
    </Stack>
  );
}

/** From here on what is asked for is done late. */
const lateS = 60;

/** How the product itself does: what is wrong in words, with where to look. */
function House() {
  const { t, language } = useText();
  const { data } = useQuery(concerns());
  if (data === undefined) return null;
  const { queue_s: queueS, workers, mails, backups } = data.house;
  const waits = lasting(queueS < 10 ? Math.round(queueS * 10) / 10 : Math.round(queueS), language);
  return (
    <Group gap="md">
      <LinkTo to="/staff/jobs" size="sm" c={queueS > lateS ? 'red' : undefined}>
        {t(queueS > lateS ? 'staff.queueLate' : 'staff.queueWaits', { time: waits })}
      </LinkTo>
      <LinkTo to="/staff/mails" size="sm" c={mails.failed > 0 ? 'red' : undefined}>
        {mails.failed > 0 ? t('staff.mailsFailed', { count: mails.failed }) : t('staff.mailsFine')}
      </LinkTo>
      <Text size="sm" c={backups.late > 0 ? 'red' : 'dimmed'}>
        {backups.late > 0 ? t('staff.backupsLate', { count: backups.late }) : t('staff.backupsFine')}
      </Text>
      <Text size="sm" c={workers === 0 ? 'red' : 'dimmed'}>
        {workers === 0 ? t('staff.noWorker') : t('staff.workersFine', { count: workers })}
      </Text>
    </Group>
  );
}

function LowOne({ low }: { low: Schema<'RunsLow'> }) {
  const { t, language } = useText();
  const { kind, name, what, taken_percent: taken, free, full_in_days: days } = low;
  const share = percent(taken, language);
  return (
    <Text>
      <span aria-hidden="true">! </span>
      {kind === 'pool'
        ? t('staff.lowPool', { name, count: free })
        : t(what === 'memory' ? 'staff.lowMemory' : 'staff.lowDisk', {
            ...{ name, share },
            free: gigabytes(what === 'memory' ? free / 1_024 : free, language),
          })}
      {days !== null && days > 0 && `, ${t('staff.fullIn', { count: days })}`}{' '}
      <LinkTo to={kind === 'pool' ? '/staff/address-pools' : '/staff/nodes'}>{t('staff.look')}</LinkTo>
    </Text>
  );
}

function One({ concern }: { concern: Concern }) {
  const { language } = useText();
  return (
    <Group component="li" justify="space-between" gap="xs" align="start">
      <div style={{ flex: '1 1 16rem', minWidth: 0 }}>
        <Text style={{ overflowWrap: 'anywhere' }}>{concern.message}</Text>
        <Text size="sm" c="dimmed">
          {moment(concern.since, language)}
        </Text>
      </div>
      <Group gap="xs">
        <ConcernActs concern={concern} />
        <ConcernLink concern={concern} />
      </Group>
    </Group>
  );
}

/** What the calendar does next. */
function Coming() {
  const { t, language } = useText();
  const word = useWord();
  const read = useQuery(calendarPreview());
  const counts = Object.entries(read.data?.counts ?? {}).filter(([, count]) => Number(count) > 0);
  return (
    <Section title={t('staff.coming')} aside={<LinkTo to="/staff/coming">{t('staff.preview')}</LinkTo>}>
      {read.error && <Refusal error={read.error} onRetry={() => void read.refetch()} />}
      {read.isLoading && <Skeleton height={60} />}
      {read.data !== undefined && (
        <>
          <Text size="sm" c="dimmed">
            {t('staff.fromUntil', {
              from: day(read.data.from, language),
              until: day(read.data.until, language),
            })}
          </Text>
          {counts.length === 0 && <Text>{t('staff.nothingComes')}</Text>}
          <Tomorrow steps={read.data.steps} from={read.data.from} isWhole={read.data.next_cursor === null} />
          <div className="facts">
            {counts.map(([step, count]) => (
              <Fact key={step} name={word(step)}>
                {String(count)}
              </Fact>
            ))}
          </div>
        </>
      )}
    </Section>
  );
}

interface TomorrowProps {
  steps: Schema<'CalendarPreview'>['steps'];
  /** Today, as the product has it. */
  from: string;
  /** Whether these are all of them. */
  isWhole: boolean;
}

/** In a line what most needs a look before it happens: who is suspended, and what is renewed for how much. */
function Tomorrow({ steps, from, isWhole }: TomorrowProps) {
  const { t, language } = useText();
  const on = new Date(Date.parse(`${from}T00:00:00Z`) + 86_400_000).toISOString().slice(0, 10);
  const ofDay = steps.filter((each) => each.on === on);
  const suspensions = ofDay.filter(({ step }) => step === 'suspend').length;
  const renewals = ofDay.filter(({ step }) => step === 'invoice').map(({ service }) => service);
  const amounts = Object.entries(Object.groupBy(renewals, ({ currency }) => currency)).map(
    ([currency, services = []]) => money(sumOf(services.map(({ price }) => price)), currency, language),
  );
  return (
    <Text>
      {t(isWhole ? 'staff.tomorrow' : 'staff.tomorrowAtLeast', {
        suspensions: t('staff.suspensions', { count: suspensions }),
        renewals: t('staff.renewals', { count: renewals.length }),
      })}
      {amounts.length > 0 && ` (${amounts.join(', ')})`}
    </Text>
  );
}

/** Of amounts of one currency, exactly. */
function sumOf(amounts: readonly string[]): string {
  const digits = amounts[0]?.split('.')[1]?.length ?? 0;
  const minor = amounts.reduce((sum, each) => sum + BigInt(each.replace('.', '')), 0n);
  const text = String(minor).padStart(digits + 1, '0');
  return digits === 0 ? text : `${text.slice(0, -digits)}.${text.slice(-digits)}`;
}

/** What is earned again and again, what came in, and what is open. */
function Money() {
  const { t, language } = useText();
  const read = useQuery(figures());
  return (
    <Section title={t('staff.figures')}>
      {read.error && <Refusal error={read.error} onRetry={() => void read.refetch()} />}
      {read.isLoading && <Skeleton height={60} />}
      {read.data?.currencies.length === 0 && <Text c="dimmed">{t('empty.figures')}</Text>}
      {read.data?.currencies.map(({ currency, months, open }) => {
        const month = months.at(-1);
        const amount = (value: string | undefined) => money(value ?? '0.00', currency, language);
        return (
          <div className="facts" key={currency}>
            <Fact name={t('staff.recurring')}>
              <div className="measured">
                {amount(month?.recurring.end)}
                <Spark values={months.map(({ recurring }) => Number(recurring.end))} />
              </div>
            </Fact>
            <Fact name={t('staff.new')}>{amount(month?.recurring.new)}</Fact>
            <Fact name={t('staff.lost')}>{amount(month?.recurring.lost)}</Fact>
            <Fact name={t('staff.cashIn')}>{amount(month?.cash_in)}</Fact>
            <Fact name={t('staff.openInvoices', { count: open.invoices })}>{amount(open.total)}</Fact>
          </div>
        );
      })}
    </Section>
  );
}

/** How full the nodes are: of what may be promised, what is. */
function Room() {
  const { t } = useText();
  const read = useInfiniteQuery(nodes());
  const items = read.data?.pages.flatMap((page) => page.items);
  return (
    <Section title={t('staff.room')}>
      <List
        label={t('staff.room')}
        items={items}
        keyOf={({ id }) => id}
        columns={[
          { name: t('field.name'), cell: ({ name }) => name },
          {
            name: t('field.memory'),
            cell: ({ taken, promised, full_in_days: days }) => (
              <Share taken={taken.memory_mib} promised={promised.memory_mib} days={days.memory} />
            ),
          },
          {
            name: t('field.disk'),
            cell: ({ taken, promised, full_in_days: days }) => (
              <Share taken={taken.disk_gib} promised={promised.disk_gib} days={days.disk} />
            ),
          },
        ]}
        error={read.error}
        onRetry={() => void read.refetch()}
        empty={<Text c="dimmed">{t('empty.nodes')}</Text>}
      />
    </Section>
  );
}

/** From here on a node is nearly full. */
const nearlyFull = 85;

function Share({ taken, promised, days }: { taken: number; promised: number; days: number | null }) {
  const { t, language } = useText();
  const percent = promised === 0 ? 0 : Math.round((taken / promised) * 100);
  const text = new Intl.NumberFormat(language, { style: 'percent' }).format(percent / 100);
  return (
    <div style={{ minWidth: '7rem' }}>
      <Text size="sm">{percent >= nearlyFull ? t('staff.nearlyFull', { share: text }) : text}</Text>
      <Progress value={percent} color={percent >= nearlyFull ? 'red' : 'brand'} aria-label={text} />
      <FullIn days={days} />
    </div>
  );
}
