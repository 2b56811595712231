import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { useRef, useState } from 'react';
import { replyToTicket } from '../../../client/generated/fields/replyToTicket.ts';
import { updateTicketSubject } from '../../../client/generated/fields/updateTicketSubject.ts';
import type { BodyOf, OperationAt, Schema } from '../../../client/index.ts';
import { useAhead } from '../data/ahead.ts';
import { client } from '../data/client.ts';
import { drawnOf } from '../data/drawn.ts';
import { session, ticket } from '../data/queries/index.ts';
import { moment } from '../text/formats.ts';
import { useText } from '../text/index.ts';
import {
  ActionButton,
  Button,
  Dialog,
  Field,
  FileField,
  type Files,
  Form,
  Group,
  LongField,
  Page,
  Paper,
  Refusal,
  Refusals,
  Section,
  Skeleton,
  Stack,
  State,
  Text,
  type Values,
} from '../ui/index.ts';
import { Attachments } from './Attachments.tsx';
import { Beside } from './Beside.tsx';
import { attachmentsOf } from './files.ts';
import { Markdown } from './Markdown.tsx';

type Shown = Schema<'Ticket'>;

export function Ticket() {
  const { tid } = useParams({ from: '/in/tickets/$tid' });
  const read = useQuery(ticket(tid));
  if (read.data !== undefined)
    return (
      <>
        {read.error && <Refusal error={read.error} onRetry={() => void read.refetch()} />}
        <Conversation of={read.data} />
      </>
    );
  return (
    <Page title={tid}>
      {read.error ? (
        <Refusal error={read.error} onRetry={() => void read.refetch()} />
      ) : (
        <div className="side">
          <Skeleton height={240} />
          <Skeleton height={180} />
        </div>
      )}
    </Page>
  );
}

function Conversation({ of: found }: { of: Shown }) {
  const { t } = useText();
  const { tid, status, actions } = found;
  const queries = useQueryClient();
  const { data: signedIn } = useQuery(session);
  const mayWrite = signedIn?.organization?.permissions.includes('ticket.write') === true;
  const given = (action: Shown['actions']['reply']) =>
    mayWrite ? action : { allowed: false, reason: t('error.forbidden') };
  const seen = () => queries.invalidateQueries({ queryKey: ['tickets'] });
  const close = useAhead<Shown>({
    of: ticket(tid).queryKey,
    isAllowed: ({ actions: { close } }) => close.allowed,
    becomes: (now) => ({ ...now, status: 'closed' }),
    send: () => client.post('/dashboard/tickets/{tid}/close', { path: { tid } }),
    anew: [['tickets']],
  });
  const answer = useRef<HTMLDivElement>(null);
  const isClosed = status === 'closed';
  return (
    <Page title={found.subject} aside={<State of={status} />}>
      <Group gap="xs">
        {isClosed && (
          <ActionButton
            size="xs"
            action={given(actions.reply)}
            onAct={() => answer.current?.querySelector('textarea')?.focus()}
          >
            {t('tickets.reopen')}
          </ActionButton>
        )}
        <ActionButton
          size="xs"
          variant="default"
          action={given(actions.close)}
          loading={close.isPending}
          onAct={() => close.mutate()}
        >
          {t('tickets.close')}
        </ActionButton>
        <ChangeSubject of={found} action={given(actions.change_subject)} onChanged={seen} />
      </Group>
      <Refusals of={close.refused} />
      <div className="side">
        <Stack gap="md">
          <Messages of={found} />
          <div ref={answer}>
            <Answer of={found} action={given(actions.reply)} onAnswered={seen} />
          </div>
        </Stack>
        <Beside of={found} />
      </div>
    </Page>
  );
}

interface ChangeProps {
  of: Shown;
  action: Parameters<typeof ActionButton>[0]['action'];
}

function ChangeSubject({ of: { tid }, action, onChanged }: ChangeProps & { onChanged: () => unknown }) {
  const { t } = useText();
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <ActionButton size="xs" variant="default" action={action} onAct={() => setOpen(true)}>
        {t('tickets.changeSubject')}
      </ActionButton>
      <Dialog title={t('tickets.changeSubject')} isOpen={isOpen} onClose={() => setOpen(false)}>
        <Form
          fields={updateTicketSubject}
          submit={t('app.save')}
          of={drawnOf('/dashboard/tickets/{tid}/subject', { path: { tid } })}
          onSubmit={async ({ subject: wanted = '' }, _files, ifMatch) => {
            await client.put('/dashboard/tickets/{tid}/subject', {
              ifMatch,
              path: { tid },
              body: { subject: wanted },
            });
            await onChanged();
            setOpen(false);
          }}
        >
          {(now) => (
            <Field name="subject" label={t('tickets.subject')} defaultValue={now.subject} autoFocus />
          )}
        </Form>
      </Dialog>
    </>
  );
}

function Messages({ of: found }: { of: Shown }) {
  const { t } = useText();
  const { tid } = found;
  const [earlier, setEarlier] = useState<Shown | null>(null);
  const shown = [...(earlier?.replies ?? []), ...found.replies];
  const left = (earlier ?? found).earlier_replies;
  const readEarlier = useMutation({
    mutationFn: async () => {
      const query = { before: shown[0]?.id };
      const { ticket: before } = await client.get('/dashboard/tickets/{tid}', { path: { tid }, query });
      setEarlier({ ...before, replies: [...before.replies, ...(earlier?.replies ?? [])] });
    },
  });
  return (
    <>
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
    </>
  );
}

function Message({ message }: { message: Schema<'TicketReply'> }) {
  const { t, language } = useText();
  const isStaff = message.adminName !== null;
  const who = isStaff ? t('tickets.staff', { name: message.adminName ?? '' }) : message.name;
  return (
    <Paper component="li" withBorder p="md" className={isStaff ? 'from-staff' : undefined}>
      <Group justify="space-between" mb="xs" gap="xs">
        <Text fw={600} style={{ overflowWrap: 'anywhere' }}>
          {who}
        </Text>
        <Text size="sm" c="dimmed">
          {moment(message.created_at, language)}
        </Text>
      </Group>
      <Markdown>{message.message}</Markdown>
      {message.quoted !== null && (
        <details>
          <summary>{t('tickets.quoted')}</summary>
          <div className="message">{message.quoted}</div>
        </details>
      )}
      <Attachments files={message.attachments} />
    </Paper>
  );
}

/** What somebody has just written, as it will stand among the others. */
function replyAhead(message: string, name: string): Schema<'TicketReply'> {
  const now = new Date().toISOString();
  return {
    ...{ id: 0, name, message, quoted: null, attachments: [], created_at: now, updated_at: now },
    ...{ email: null, adminName: null, adminRole: null, user: null },
  };
}

type Reply = BodyOf<OperationAt<'post', '/dashboard/tickets/{tid}'>>;

function Answer({ of: { tid, status }, action, onAnswered }: ChangeProps & { onAnswered: () => unknown }) {
  const { t } = useText();
  const [answers, setAnswers] = useState(0);
  const isClosed = status === 'closed';
  const { data: signedIn } = useQuery(session);
  const name = [signedIn?.user.first_name, signedIn?.user.last_name].filter(Boolean).join(' ');
  const post = (body: Reply) => client.post('/dashboard/tickets/{tid}', { path: { tid }, body });
  // What was written stays in its field until it has come; meanwhile it stands where it will stand.
  const send = useAhead<Shown, Reply>({
    of: ticket(tid).queryKey,
    isAllowed: ({ actions }) => actions.reply.allowed,
    becomes: (now, { message }) => ({
      ...now,
      status: 'customer_reply',
      replies: [...now.replies, replyAhead(message, name)],
    }),
    send: post,
    anew: [['tickets']],
  });
  if (!action.allowed) return <Text c="dimmed">{action.reason}</Text>;
  const bodyOf = ({ message = '' }: Values, files: Files) => ({ message, attachments: attachmentsOf(files) });
  return (
    <Section title={t('tickets.reply')}>
      {isClosed && <Text>{t('tickets.closed')}</Text>}
      <Form
        fields={replyToTicket}
        key={answers}
        draft="reply"
        submit={t(isClosed ? 'tickets.sendAndReopen' : 'tickets.send')}
        // Nothing is shown among the others that is only looked at.
        asCode={(typed, files) => post(bodyOf(typed, files))}
        onSubmit={async (typed, files) => {
          await send.mutateAsync(bodyOf(typed, files));
          await onAnswered();
          setAnswers((before) => before + 1);
        }}
      >
        <LongField name="message" label={t('tickets.message')} help={t('tickets.markdownHelp')} />
        <FileField name="attachments" label={t('tickets.files')} />
      </Form>
    </Section>
  );
}
