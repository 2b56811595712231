import { useQuery } from '@tanstack/react-query';
import { ApiError, type Schema } from '../../../client/index.ts';
import { departments, service } from '../data/queries/index.ts';
import { day, moment, money } from '../text/formats.ts';
import { useText } from '../text/index.ts';
import { Fact, LinkTo, Refusal, Section, Skeleton, Stack, State, Text } from '../ui/index.ts';

/** What stands beside a conversation: the service that it is about, and who answers. */
export function Beside({ of: ticket }: { of: Schema<'Ticket'> }) {
  const { t, language } = useText();
  const offered = useQuery(departments);
  const {
    tid,
    department,
    priority,
    user,
    created_at: begun,
    service_id: about,
    merged_tids: merged,
  } = ticket;
  return (
    <Stack gap="md">
      {about !== null && <AboutService id={about} />}
      <Section title={t('tickets.about')}>
        <div className="facts">
          <Fact name={t('tickets.department')}>
            {offered.data?.find(({ slug }) => slug === department)?.name ?? department}
          </Fact>
          <Fact name={t('tickets.priority')}>{t(`tickets.${priority}`)}</Fact>
          {user !== null && (
            <Fact name={t('tickets.openedBy')}>
              {[user.first_name, user.last_name].filter(Boolean).join(' ') || user.email}
            </Fact>
          )}
          <Fact name={t('tickets.openedAt')}>{moment(begun, language)}</Fact>
          <Fact name={t('tickets.code')}>#{tid}</Fact>
          {merged.length > 0 && (
            <Fact name={t('tickets.merged')}>{merged.map((each) => `#${each}`).join(', ')}</Fact>
          )}
        </div>
      </Section>
    </Stack>
  );
}

function AboutService({ id }: { id: number }) {
  const { t, language } = useText();
  const { data: found, error, refetch } = useQuery(service(id));
  // It may belong to somebody else by now.
  const isAway = error instanceof ApiError && (error.status === 403 || error.status === 404);
  return (
    <Section title={t('tickets.aboutService')}>
      {isAway && <Text c="dimmed">{t('tickets.serviceAway')}</Text>}
      {error !== null && !isAway && <Refusal error={error} onRetry={() => void refetch()} />}
      {found === undefined && error === null && <Skeleton height={90} />}
      {found !== undefined && (
        <>
          <LinkTo
            to="/services/$id"
            params={{ id: String(id) }}
            fw={600}
            style={{ overflowWrap: 'anywhere' }}
          >
            {found.hostname ?? found.domain ?? t('services.untitled', { id })}
          </LinkTo>
          <div>
            <State of={found.status} />
          </div>
          <div className="facts">
            <Fact name={t('services.product')}>{found.product.name}</Fact>
            {found.primary_ip !== null && <Fact name={t('services.address')}>{found.primary_ip}</Fact>}
            <Fact name={t('services.due')}>
              {found.duedate === null
                ? t('services.noPayment')
                : t('services.perCycle', {
                    price: money(found.price, found.currency, language),
                    day: day(found.duedate, language),
                  })}
            </Fact>
          </div>
        </>
      )}
    </Section>
  );
}
