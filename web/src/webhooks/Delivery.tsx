import { useMutation, useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { DeveloperTabs } from '../account/DeveloperTabs.tsx';
import { client } from '../data/client.ts';
import { delivery, queryClient } from '../data/queries/index.ts';
import { moment } from '../text/formats.ts';
import { useText } from '../text/index.ts';
import {
  Button,
  Fact,
  LinkTo,
  List,
  Page,
  Refusal,
  Section,
  SimpleGrid,
  Skeleton,
  State,
  Text,
} from '../ui/index.ts';

/** One event on its way to an address: what was sent, and what came back each time. */
export function Delivery() {
  const { t, language } = useText();
  const { id } = useParams({ from: '/in/developers/deliveries/$id' });
  const read = useQuery(delivery(Number(id)));
  const replay = useMutation({
    mutationFn: () => client.post('/dashboard/webhooks/deliveries/{id}/replay', { path: { id: Number(id) } }),
    onSettled: () => queryClient.invalidateQueries({ queryKey: ['webhooks'] }),
  });
  const { data: found } = read;
  if (found === undefined)
    return (
      <Page title={t('webhooks.delivery')}>
        <DeveloperTabs />
        {read.error ? (
          <Refusal error={read.error} onRetry={() => void read.refetch()} />
        ) : (
          <Skeleton height={320} />
        )}
      </Page>
    );
  return (
    <Page
      title={found.event}
      aside={
        <>
          <State of={found.state} />
          <Button variant="default" loading={replay.isPending} onClick={() => replay.mutate()}>
            {t('webhooks.sendAgain')}
          </Button>
        </>
      }
    >
      <DeveloperTabs />
      <Refusal error={replay.error} />
      <Section title={t('organization.about')}>
        <SimpleGrid cols={{ base: 1, sm: 2 }}>
          <Fact name={t('webhooks.to')}>
            <LinkTo to="/developers/webhooks/$id" params={{ id: String(found.webhook_id) }}>
              {found.request.url}
            </LinkTo>
          </Fact>
          <Fact name={t('webhooks.message')}>{found.message_id}</Fact>
          <Fact name={t('activity.when')}>{moment(found.created_at, language)}</Fact>
          {found.next_try_at !== null && (
            <Fact name={t('webhooks.nextTry')}>{moment(found.next_try_at, language)}</Fact>
          )}
        </SimpleGrid>
      </Section>
      <Section title={t('webhooks.sent')}>
        <Text className="message" ff="monospace" size="sm">
          {indented(found.request.body)}
        </Text>
      </Section>
      <Section title={t('webhooks.tries')}>
        <List
          label={t('webhooks.tries')}
          items={found.attempts}
          keyOf={({ tried_at }) => tried_at}
          columns={[
            { name: t('activity.when'), cell: ({ tried_at }) => moment(tried_at, language) },
            {
              name: t('webhooks.answer'),
              cell: ({ status, error, answer }) => (
                <span className="message">{[status, error, answer].filter(Boolean).join(' · ')}</span>
              ),
            },
            {
              name: t('webhooks.took'),
              isNumber: true,
              cell: ({ duration_ms }) => t('webhooks.milliseconds', { count: duration_ms }),
            },
          ]}
          error={null}
          onRetry={() => undefined}
          empty={<Text c="dimmed">{t('webhooks.noTries')}</Text>}
        />
      </Section>
    </Page>
  );
}

/** JSON as people read it; what is none stays as it is. */
function indented(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), null, 2);
  } catch {
    return body;
  }
}
