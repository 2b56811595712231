import { useInfiniteQuery, useMutation, useQuery } from '@tanstack/react-query';
import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { replayWebhook } from '../../../client/generated/fields/replayWebhook.ts';
import { updateWebhook } from '../../../client/generated/fields/updateWebhook.ts';
import type { Schema } from '../../../client/index.ts';
import { DeveloperTabs } from '../account/DeveloperTabs.tsx';
import { useAhead } from '../data/ahead.ts';
import { client } from '../data/client.ts';
import { drawnOf } from '../data/drawn.ts';
import { choicesOf } from '../data/fields.ts';
import { deliveries, moreOf, queryClient, webhook } from '../data/queries/index.ts';
import { deliveryStates } from '../data/states.ts';
import { moment } from '../text/formats.ts';
import { useText } from '../text/index.ts';
import {
  Alert,
  Button,
  Choice,
  Confirm,
  Copy,
  Dialog,
  Fact,
  Field,
  Form,
  Group,
  LinkTo,
  List,
  NativeSelect,
  Page,
  Paper,
  Refusal,
  Refusals,
  Section,
  SimpleGrid,
  Skeleton,
  Stack,
  State,
  Text,
} from '../ui/index.ts';
import { chosenEvents, WebhookFields } from './WebhookFields.tsx';

const readAnew = () => queryClient.invalidateQueries({ queryKey: ['webhooks'] });

export function Webhook() {
  const { t } = useText();
  const { id } = useParams({ from: '/in/developers/webhooks/$id' });
  const read = useQuery(webhook(Number(id)));
  const { data: found } = read;
  return (
    <Page title={t('webhooks.one')} aside={found && <State of={found.status} />}>
      <DeveloperTabs />
      {found !== undefined ? (
        <Shown found={found} />
      ) : read.error ? (
        <Refusal error={read.error} onRetry={() => void read.refetch()} />
      ) : (
        <Skeleton height={320} />
      )}
    </Page>
  );
}

function Shown({ found }: { found: Schema<'Webhook'> }) {
  const { t, language } = useText();
  const navigate = useNavigate();
  const [secret, setSecret] = useState<string | null>(null);
  const [asked, setAsked] = useState<'change' | 'rotate' | 'remove' | null>(null);
  const path = { id: found.id };
  const isPaused = found.status === 'paused';
  const turn = useAhead<Schema<'Webhook'>, 'enabled' | 'paused'>({
    of: webhook(found.id).queryKey,
    isAllowed: () => true,
    becomes: (now, status) => ({ ...now, status, paused_reason: null }),
    send: (status) => client.patch('/dashboard/webhooks/{id}', { path, body: { status } }),
    anew: [['webhooks']],
  });
  const test = useMutation({
    mutationFn: () => client.post('/dashboard/webhooks/{id}/test', { path }),
    onSettled: readAnew,
  });
  const rotate = useMutation({
    mutationFn: async () => {
      const answer = await client.post('/dashboard/webhooks/{id}/rotate-secret', { path });
      setSecret(answer.secret);
    },
  });
  const remove = useMutation({
    mutationFn: async () => {
      await client.delete('/dashboard/webhooks/{id}', { path });
      await navigate({ to: '/developers/webhooks' });
      await readAnew();
    },
  });
  return (
    <>
      {found.paused_reason !== null && (
        <Alert color="orange" title={t('webhooks.pausedByUs')}>
          {found.paused_reason}
        </Alert>
      )}
      {secret !== null && (
        <Paper withBorder p="md" role="status">
          <Stack gap="sm">
            <Text fw={600}>{t('webhooks.once')}</Text>
            <Copy text={secret} />
          </Stack>
        </Paper>
      )}
      <Section title={t('organization.about')}>
        <SimpleGrid cols={{ base: 1, sm: 2 }}>
          <Fact name={t('webhooks.url')}>{found.url}</Fact>
          <Fact name={t('webhooks.events')}>
            {found.events === null ? t('webhooks.allEvents') : found.events.join(', ')}
          </Fact>
          <Fact name={t('webhooks.description')}>{found.description || t('app.nothing')}</Fact>
          <Fact name={t('webhooks.lastSuccess')}>
            {found.last_success_at === null ? t('webhooks.notYet') : moment(found.last_success_at, language)}
          </Fact>
        </SimpleGrid>
        <Group gap="xs">
          <Button variant="default" loading={test.isPending} onClick={() => test.mutate()}>
            {t('webhooks.test')}
          </Button>
          <Button variant="default" onClick={() => setAsked('change')}>
            {t('apiKeys.change')}
          </Button>
          <Button
            variant="default"
            loading={turn.isPending}
            onClick={() => turn.mutate(isPaused ? 'enabled' : 'paused')}
          >
            {t(isPaused ? 'webhooks.resume' : 'webhooks.pause')}
          </Button>
          <Button variant="default" loading={rotate.isPending} onClick={() => setAsked('rotate')}>
            {t('webhooks.rotate')}
          </Button>
          <Button color="red" variant="light" loading={remove.isPending} onClick={() => setAsked('remove')}>
            {t('app.remove')}
          </Button>
        </Group>
        <Refusals of={turn.refused} />
        <Refusal error={test.error ?? rotate.error ?? remove.error} />
      </Section>
      <Deliveries id={found.id} />
      <Dialog title={t('apiKeys.change')} isOpen={asked === 'change'} onClose={() => setAsked(null)}>
        <Form
          fields={updateWebhook}
          submit={t('app.save')}
          of={drawnOf('/dashboard/webhooks/{id}', { path })}
          onSubmit={async (values, _files, ifMatch) => {
            const { url = '', description = '' } = values;
            const body = { url, description, events: chosenEvents(values) };
            await client.patch('/dashboard/webhooks/{id}', { path, body, ifMatch });
            setAsked(null);
            await readAnew();
          }}
        >
          {({ webhook }) => <WebhookFields webhook={webhook} />}
        </Form>
      </Dialog>
      <Confirm
        title={`${t('webhooks.rotate')}?`}
        text={t('webhooks.rotateText')}
        button={t('webhooks.rotate')}
        isOpen={asked === 'rotate'}
        onClose={() => setAsked(null)}
        onConfirm={() => {
          setAsked(null);
          rotate.mutate();
        }}
      />
      <Confirm
        title={t('webhooks.removeAsk')}
        text={t('webhooks.removeLoses')}
        button={t('app.remove')}
        isOpen={asked === 'remove'}
        onClose={() => setAsked(null)}
        onConfirm={() => {
          setAsked(null);
          remove.mutate();
        }}
      />
    </>
  );
}

function Deliveries({ id }: { id: number }) {
  const { t, language } = useText();
  const { state } = useSearch({ from: '/in/developers/webhooks/$id' });
  const navigate = useNavigate({ from: '/developers/webhooks/$id' });
  const found = useInfiniteQuery(deliveries(id, { state }));
  return (
    <Section
      title={t('webhooks.deliveries')}
      aside={
        <Button variant="default" loading={found.isRefetching} onClick={() => void found.refetch()}>
          {t('webhooks.lookAgain')}
        </Button>
      }
    >
      <NativeSelect
        label={t('services.status')}
        maw={240}
        value={state ?? ''}
        onChange={({ currentTarget: { value } }) =>
          void navigate({ search: { state: deliveryStates.find((each) => each === value) }, replace: true })
        }
        data={[
          { value: '', label: t('app.all') },
          ...deliveryStates.map((value) => ({ value, label: t(`status.${value}`) })),
        ]}
      />
      <List
        label={t('webhooks.deliveries')}
        items={found.data?.pages.flatMap((page) => page.deliveries)}
        keyOf={(each) => each.id}
        columns={[
          {
            name: t('webhooks.event'),
            cell: (each) => (
              <LinkTo to="/developers/deliveries/$id" params={{ id: String(each.id) }}>
                {each.event}
              </LinkTo>
            ),
          },
          { name: t('services.status'), cell: (each) => <State of={each.state} /> },
          { name: t('webhooks.tries'), isNumber: true, cell: ({ tries }) => tries },
          {
            name: t('activity.when'),
            isNumber: true,
            cell: ({ created_at }) => moment(created_at, language),
          },
        ]}
        error={found.error}
        onRetry={() => void found.refetch()}
        empty={<Text c="dimmed">{t('webhooks.noDeliveries')}</Text>}
        more={moreOf(found)}
      />
      <Replay id={id} />
    </Section>
  );
}

/** Sends a span of time once more. */
function Replay({ id }: { id: number }) {
  const { t } = useText();
  const [count, setCount] = useState<number | null>(null);
  return (
    <Form
      fields={replayWebhook}
      submit={t('webhooks.replay')}
      onSubmit={async ({ since = '', until, state }) => {
        const { replayed } = await client.post('/dashboard/webhooks/{id}/replay', {
          path: { id },
          body: {
            since: new Date(`${since}T00:00:00`).toISOString(),
            ...(until && { until: new Date(`${until}T23:59:59`).toISOString() }),
            state: state === 'all' ? 'all' : 'failed',
          },
        });
        setCount(replayed);
        await readAnew();
      }}
      beside={count !== null && <Text role="status">{t('webhooks.replayed', { count })}</Text>}
    >
      <Text>{t('webhooks.replayText')}</Text>
      <SimpleGrid cols={{ base: 1, sm: 3 }}>
        <Field name="since" type="date" label={t('activity.since')} />
        <Field name="until" type="date" label={t('activity.until')} required={false} />
        <Choice
          name="state"
          label={t('webhooks.which')}
          choices={choicesOf(replayWebhook.state, (value) =>
            t(value === 'failed' ? 'webhooks.failedOnly' : 'app.all'),
          )}
        />
      </SimpleGrid>
    </Form>
  );
}
