import { useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { createWebhook } from '../../../client/generated/fields/createWebhook.ts';
import { DeveloperTabs } from '../account/DeveloperTabs.tsx';
import { client } from '../data/client.ts';
import { moreOf, queryClient, webhooks } from '../data/queries/index.ts';
import { moment } from '../text/formats.ts';
import { useText } from '../text/index.ts';
import { Button, Copy, Form, LinkTo, List, Page, Paper, Section, Stack, State, Text } from '../ui/index.ts';
import { chosenEvents, WebhookFields } from './WebhookFields.tsx';

/** Addresses that are told of what happens in an organization. */
export function Webhooks() {
  const { t, language } = useText();
  const found = useInfiniteQuery(webhooks);
  const [secret, setSecret] = useState<string | null>(null);
  const [made, setMade] = useState(0);
  return (
    <Page title={t('webhooks.title')}>
      <DeveloperTabs />
      {secret !== null && (
        <Paper withBorder p="md" role="status">
          <Stack gap="sm">
            <Text fw={600}>{t('webhooks.once')}</Text>
            <Copy text={secret} />
            <Button variant="default" onClick={() => setSecret(null)} style={{ alignSelf: 'flex-start' }}>
              {t('apiKeys.kept')}
            </Button>
          </Stack>
        </Paper>
      )}
      <List
        label={t('webhooks.title')}
        items={found.data?.pages.flatMap((page) => page.webhooks)}
        keyOf={({ id }) => id}
        columns={[
          {
            name: t('webhooks.url'),
            cell: ({ id, url, description }) => (
              <div>
                <LinkTo to="/developers/webhooks/$id" params={{ id: String(id) }}>
                  {url}
                </LinkTo>
                {description !== '' && (
                  <Text size="sm" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
                    {description}
                  </Text>
                )}
              </div>
            ),
          },
          {
            name: t('services.status'),
            cell: ({ status, failing_since }) => (
              <State of={status === 'enabled' && failing_since !== null ? 'failing' : status} />
            ),
          },
          {
            name: t('webhooks.events'),
            cell: ({ events }) =>
              events === null ? t('webhooks.allEvents') : t('webhooks.eventCount', { count: events.length }),
          },
          {
            name: t('webhooks.lastSuccess'),
            isNumber: true,
            cell: ({ last_success_at: last }) =>
              last === null ? t('webhooks.notYet') : moment(last, language),
          },
        ]}
        error={found.error}
        onRetry={() => void found.refetch()}
        empty={
          <>
            <Text fw={600}>{t('webhooks.none')}</Text>
            <Text c="dimmed">{t('webhooks.noneText')}</Text>
          </>
        }
        more={moreOf(found)}
      />
      <Section title={t('webhooks.add')}>
        <Form
          fields={createWebhook}
          key={made}
          submit={t('webhooks.add')}
          onSubmit={async (values) => {
            const { url = '', description = '' } = values;
            const answer = await client.post('/dashboard/webhooks', {
              body: { url, description, events: chosenEvents(values) },
            });
            setSecret(answer.secret);
            setMade((before) => before + 1);
            await queryClient.invalidateQueries({ queryKey: ['webhooks'] });
            window.scrollTo({ top: 0 });
          }}
        >
          <WebhookFields />
        </Form>
      </Section>
    </Page>
  );
}
