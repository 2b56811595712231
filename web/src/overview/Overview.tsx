import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { Schema } from '../../../client/index.ts';
import { activity, needs, services, session } from '../data/queries/index.ts';
import { Happened } from '../events/Happened.tsx';
import { useServiceColumns } from '../services/columns.tsx';
import { day, moment, money } from '../text/formats.ts';
import { useValues } from '../text/happened.ts';
import { useText } from '../text/index.ts';
import {
  Group,
  LinkButton,
  LinkTo,
  List,
  Page,
  Refusal,
  Section,
  Skeleton,
  Stack,
  Text,
  Title,
  useOwnWords,
} from '../ui/index.ts';

type Need = Schema<'Need'>;

/** What needs me, what is mine, and what happened last. */
export function Overview() {
  const { t } = useText();
  const { data: signedIn } = useQuery(session);
  const organization = signedIn?.organization ?? null;
  const seesActivity = organization?.permissions.includes('activity.read') === true;
  if (organization === null || !seesActivity)
    return (
      <Page title={t('overview.title')}>
        <NeedsYou />
        <Mine />
      </Page>
    );
  return (
    <Page title={t('overview.title')}>
      <div className="side">
        <Stack gap="lg">
          <NeedsYou />
          <Mine />
        </Stack>
        <Lately organizationId={organization.id} />
      </div>
    </Page>
  );
}

function NeedsYou() {
  const { t } = useText();
  const read = useQuery(needs);
  return (
    <Section title={t('overview.needsYou')}>
      {read.error && <Refusal error={read.error} onRetry={() => void read.refetch()} />}
      {read.isLoading && <Skeleton height={20} width="60%" />}
      {read.data?.length === 0 && <Text c="dimmed">{t('overview.nothing')}</Text>}
      {read.data !== undefined && read.data.length > 0 && (
        <Stack component="ul" gap="sm" p={0} m={0} style={{ listStyle: 'none' }}>
          {read.data.map((need) => (
            <Group component="li" key={`${need.kind} ${need.id}`} justify="space-between" gap="xs">
              <OneNeed need={need} />
            </Group>
          ))}
        </Stack>
      )}
    </Section>
  );
}

/** What it is, and the next step of it. */
function OneNeed({ need: { kind, id, title, detail, on } }: { need: Need }) {
  const { t, language } = useText();
  const when = on === null ? '' : day(on, language);
  const [amount = '', currency = null] = (detail ?? '').split(' ');
  switch (kind) {
    case 'invoice.unpaid':
    case 'invoice.overdue':
      return (
        <Line
          text={t(kind === 'invoice.overdue' ? 'overview.overdue' : 'overview.unpaid', {
            ...{ number: title, day: when },
          })}
          detail={money(amount, currency, language)}
        >
          <LinkButton to="/invoices/$id" params={{ id }} size="xs">
            {t('overview.pay')}
          </LinkButton>
        </Line>
      );
    case 'service.failed':
    case 'service.suspended':
      return (
        <Line
          text={t(kind === 'service.failed' ? 'overview.failed' : 'overview.suspended', { name: title })}
          detail={detail}
        >
          <LinkButton to="/services/$id" params={{ id }} size="xs" variant="default">
            {t('overview.look')}
          </LinkButton>
        </Line>
      );
    case 'payment_method.expired':
    case 'payment_method.expiring':
      return (
        <Line
          text={t(kind === 'payment_method.expired' ? 'overview.methodOver' : 'overview.methodEnds', {
            ...{ name: title, day: when },
          })}
        >
          <LinkButton to="/billing/payment-methods" size="xs" variant="default">
            {t('overview.renew')}
          </LinkButton>
        </Line>
      );
    case 'shield.attack':
      return (
        <Line text={t('overview.attacked', { address: title })} detail={detail}>
          <LinkButton to="/shield/attacks/$id" params={{ id }} size="xs">
            {t('overview.look')}
          </LinkButton>
        </Line>
      );
    case 'shield.trial':
      return (
        <Line text={t('overview.trial', { address: title })}>
          <LinkButton to="/shield/addresses/$ip" params={{ ip: id }} size="xs">
            {t('overview.decide')}
          </LinkButton>
        </Line>
      );
    case 'ticket.answered':
      return (
        <Line text={t('overview.answered', { subject: title })}>
          <LinkButton to="/tickets/$tid" params={{ tid: id }} size="xs" variant="default">
            {t('overview.read')}
          </LinkButton>
        </Line>
      );
  }
}

function Line({
  text,
  detail = null,
  children,
}: {
  text: string;
  detail?: string | null;
  children: ReactNode;
}) {
  return (
    <>
      <div style={{ flex: '1 1 14rem', minWidth: 0, overflowWrap: 'anywhere' }}>
        <Text>{text}</Text>
        {detail !== null && (
          <Text size="sm" c="dimmed">
            {detail}
          </Text>
        )}
      </div>
      {children}
    </>
  );
}

function Mine() {
  const { t } = useText();
  const ownWords = useOwnWords('services');
  const mine = useInfiniteQuery(services({ status: 'active' }));
  return (
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
            <Text c="dimmed" ta="center" className="message">
              {ownWords ?? t('services.noneText')}
            </Text>
            <LinkButton to="/order">{t('services.order')}</LinkButton>
          </>
        }
      />
    </Stack>
  );
}

/** So many of the last things that happened. */
const shown = 8;

function Lately({ organizationId }: { organizationId: number }) {
  const { t, language } = useText();
  const read = useInfiniteQuery(activity(organizationId, {}));
  const told = useValues();
  const entries = read.data?.pages[0]?.activity;
  return (
    <Section
      title={t('overview.lately')}
      aside={<LinkTo to="/organization/activity">{t('overview.allActivity')}</LinkTo>}
    >
      {read.error && <Refusal error={read.error} onRetry={() => void read.refetch()} />}
      {read.isLoading && <Skeleton height={200} />}
      {entries?.length === 0 && <Text c="dimmed">{t('activity.none')}</Text>}
      <Stack component="ul" gap="sm" p={0} m={0} style={{ listStyle: 'none' }}>
        {entries?.slice(0, shown).map((entry) => (
          <li key={entry.id} style={{ overflowWrap: 'anywhere' }}>
            <Happened entry={entry} />
            <Text size="sm" c="dimmed">
              {[told(entry.values), moment(entry.created_at, language)].filter(Boolean).join(' · ')}
            </Text>
          </li>
        ))}
      </Stack>
    </Section>
  );
}
