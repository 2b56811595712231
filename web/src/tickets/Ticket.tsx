import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { useState } from 'react';
import type { Schema } from '../../../client/index.ts';
import { client } from '../data/client.ts';
import { ticket } from '../data/queries/index.ts';
import { moment } from '../text/formats.ts';
import { useText } from '../text/index.ts';
import {
  ActionButton,
  Button,
  FileField,
  Form,
  Group,
  LongField,
  Page,
  Paper,
  Refusal,
  Skeleton,
  Stack,
  State,
  Text,
} from '../ui/index.ts';
import { Attachments } from './Attachments.tsx';
import { attachmentsOf } from './files.ts';

export function Ticket() {
  const { t } = useText();
  const { tid } = useParams({ from: '/in/tickets/$tid' });
  const queries = useQueryClient();
  const read = useQuery(ticket(tid));
  const [answers, setAnswers] = useState(0);
  const seen = () => queries.invalidateQueries({ queryKey: ['tickets'] });
  const close = useMutation({
    mutationFn: () => client.post('/dashboard/tickets/{tid}/close', { path: { tid } }),
    onSettled: seen,
  });
  const { data: found } = read;
  const [earlier, setEarlier] = useState<Schema<'Ticket'> | null>(null);
  const shown = [...(earlier?.replies ?? []), ...(found?.replies ?? [])];
  const left = (earlier ?? found)?.earlier_replies ?? 0;
  const readEarlier = useMutation({
    mutationFn: async () => {
      const query = { before: shown[0]?.id };
      const { ticket: before } = await client.get('/dashboard/tickets/{tid}', { path: { tid }, query });
      setEarlier({ ...before, replies: [...before.replies, ...(earlier?.replies ?? [])] });
    },
  });
  if (found === undefined)
    return (
      <Page title={tid}>
        {read.error ? (
          <Refusal error={read.error} onRetry={() => void read.refetch()} />
        ) : (
          <Skeleton height={240} />
        )}
      </Page>
    );
  return (
    <Page
      title={found.subject}
      aside={
        <>
          <State of={found.status} />
          <ActionButton
            variant="default"
            action={found.actions.close}
            loading={close.isPending}
            onAct={() => close.mutate()}
          >
            {t('tickets.close')}
          </ActionButton>
        </>
      }
    >
      <Refusal error={close.error} />
      {left > 0 && (
        <Button variant="default" loading={readEarlier.isPending} onClick={() => readEarlier.mutate()}>
          {t('tickets.earlier', { count: left })}
        </Button>
      )}
      <Refusal error={readEarlier.error} />
      <Stack component="ol" gap="md" p={0} m={0} style={{ listStyle: 'none' }}>
        {shown.map((each) => (
          <Message key={each.id} message={each} />
        ))}
      </Stack>
      {found.status === 'closed' && <Text>{t('tickets.closed')}</Text>}
      {found.actions.reply.allowed && (
        <Form
          key={answers}
          submit={t('tickets.send')}
          onSubmit={async ({ message = '' }, files) => {
            const attachments = await attachmentsOf(files.attachments ?? []);
            await client.post('/dashboard/tickets/{tid}', { path: { tid }, body: { message, attachments } });
            await seen();
            setAnswers((before) => before + 1);
          }}
        >
          <LongField name="message" label={t('tickets.reply')} />
          <FileField name="attachments" label={t('tickets.files')} />
        </Form>
      )}
    </Page>
  );
}

/** What was written, as it was written: nothing in it is markup. */
function Message({ message }: { message: Schema<'TicketReply'> }) {
  const { t, language } = useText();
  const who = message.adminName === null ? message.name : t('tickets.staff', { name: message.adminName });
  return (
    <Paper
      component="li"
      withBorder
      p="md"
      bg={message.adminName === null ? undefined : 'var(--mantine-color-default-hover)'}
    >
      <Group justify="space-between" mb="xs">
        <Text fw={600}>{who}</Text>
        <Text size="sm" c="dimmed">
          {moment(message.created_at, language)}
        </Text>
      </Group>
      <Text className="message">{message.message}</Text>
      <Attachments files={message.attachments} />
    </Paper>
  );
}
