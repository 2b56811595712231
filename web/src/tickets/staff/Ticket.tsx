import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { type ReactNode, useRef, useState } from 'react';
import { answerTicket } from '../../../../client/generated/fields/answerTicket.ts';
import { assignTicket } from '../../../../client/generated/fields/assignTicket.ts';
import { mergeTicket } from '../../../../client/generated/fields/mergeTicket.ts';
import { splitTicket } from '../../../../client/generated/fields/splitTicket.ts';
import { updateTicket } from '../../../../client/generated/fields/updateTicket.ts';
import type { Schema } from '../../../../client/index.ts';
import { client } from '../../data/client.ts';
import { drawnOf, partOf, shown } from '../../data/drawn.ts';
import { useMay } from '../../data/may.ts';
import { session } from '../../data/queries/index.ts';
import { cannedReplies, staffPeople, staffService, staffTicket } from '../../data/queries/staff/index.ts';
import { saveFile } from '../../data/saveFile.ts';
import { bytes, moment, money } from '../../text/formats.ts';
import { useText } from '../../text/index.ts';
import {
  Act,
  Alert,
  Bullets,
  Button,
  Facts,
  FileField,
  Form,
  Group,
  LinkTo,
  LongField,
  Named,
  NamedChoice,
  NativeSelect,
  Page,
  Paper,
  Refusal,
  Section,
  Skeleton,
  Stack,
  State,
  Text,
  Thing,
  Tick,
  useWord,
  Written,
} from '../../ui/index.ts';
import { attachmentsOf } from '../files.ts';
import { Markdown } from '../Markdown.tsx';
import { Departments } from './Departments.tsx';

type StaffTicket = Schema<'StaffTicket'>;

/** States that staff may set: that a customer waits follows from what the customer wrote. */
const states = updateTicket.status.choices;
type SetState = (typeof states)[number];

export function Ticket() {
  const { tid = '' } = useParams({ strict: false });
  return (
    <Thing title={tid} query={staffTicket({ tid })}>
      {({ ticket }) => <Shown ticket={ticket} />}
    </Thing>
  );
}

function Shown({ ticket }: { ticket: StaffTicket }) {
  const { t } = useText();
  const [before, setBefore] = useState<number | null>(null);
  const { data: mine } = useQuery(session);
  const others = ticket.writing.filter(({ id }) => id !== mine?.user.id);
  const earliest = ticket.messages[0]?.id;
  return (
    <Page title={ticket.subject} aside={<State of={ticket.status} />}>
      <Acts ticket={ticket} />
      <div className="side">
        <Stack gap="md">
          {before !== null && <Earlier tid={ticket.tid} before={before} onMore={setBefore} />}
          {before === null && ticket.earlier_messages > 0 && earliest !== undefined && (
            <Button variant="default" onClick={() => setBefore(earliest)}>
              {t('tickets.earlier', { count: ticket.earlier_messages })}
            </Button>
          )}
          <Messages messages={ticket.messages} />
          {others.length > 0 && (
            <Alert color="yellow" role="status">
              {t('support.writing', { names: others.map(({ name }) => name).join(', ') })}
            </Alert>
          )}
          <Answer ticket={ticket} />
        </Stack>
        <Customer ticket={ticket} />
      </div>
    </Page>
  );
}

function Earlier({ tid, before, onMore }: { tid: string; before: number; onMore: (id: number) => void }) {
  const { t } = useText();
  const read = useQuery(staffTicket({ tid }, { before }));
  const found = read.data?.ticket;
  const first = found?.messages[0]?.id;
  return (
    <>
      <Refusal error={read.error} onRetry={() => void read.refetch()} />
      {found !== undefined && found.earlier_messages > 0 && first !== undefined && (
        <Button variant="default" onClick={() => onMore(first)}>
          {t('tickets.earlier', { count: found.earlier_messages })}
        </Button>
      )}
      {found !== undefined && <Messages messages={found.messages} />}
    </>
  );
}

function Messages({ messages }: { messages: StaffTicket['messages'] }) {
  return (
    <Stack component="ol" gap="md" p={0} m={0} style={{ listStyle: 'none' }}>
      {messages.map((each) => (
        <Message key={each.id} message={each} />
      ))}
    </Stack>
  );
}

/** What was written. Notes look like nothing that a customer ever sees. */
function Message({ message }: { message: StaffTicket['messages'][number] }) {
  const { t, language } = useText();
  const { kind, adminName, name, email } = message;
  const who = kind === 'customer' ? [name, email].filter(Boolean).join(' · ') : (adminName ?? name);
  return (
    <Paper
      component="li"
      withBorder
      p="md"
      className={kind === 'note' ? 'note' : kind === 'staff' ? 'from-staff' : undefined}
    >
      <Group justify="space-between" mb="xs" gap="xs">
        <Text fw={600} style={{ overflowWrap: 'anywhere' }}>
          {kind === 'note'
            ? t('support.noteBy', { name: who })
            : kind === 'staff'
              ? t('tickets.staff', { name: who })
              : who}
        </Text>
        <Text size="sm" c="dimmed">
          {moment(message.created_at, language)}
        </Text>
      </Group>
      <Markdown>{message.message}</Markdown>
      {message.quoted !== null && (
        <details>
          <summary>{t('support.quoted')}</summary>
          <Written>{message.quoted}</Written>
        </details>
      )}
      <Group gap="xs" mt={message.attachments.length > 0 ? 'sm' : 0}>
        {message.attachments.map((file) => (
          <Button
            key={file.id}
            size="xs"
            variant="default"
            onClick={async () =>
              saveFile(
                await client.file('/staff/tickets/attachments/{id}', { path: { id: file.id } }),
                file.name,
              )
            }
          >
            {file.name} ({bytes(file.size, language)})
          </Button>
        ))}
      </Group>
    </Paper>
  );
}

/** What staff sorts a ticket by. Customers and colleagues go on writing to it meanwhile. */
const sorted = shown(['subject', 'department', 'priority', 'service_id']);

function Acts({ ticket }: { ticket: StaffTicket }) {
  const { t } = useText();
  const path = { tid: ticket.tid };
  const { data: mine } = useQuery(session);
  const may = useMay();
  const assign = (id: number | null) =>
    client.post('/staff/tickets/{tid}/assign', { path, body: { user_id: id } });
  const turned = ticket.status === 'closed' ? 'in_progress' : 'closed';
  return (
    <Group gap="xs">
      {ticket.assigned?.id === mine?.user.id ? (
        <Act operation="assignTicket" label={t('support.letGo')} onAct={() => assign(null)} />
      ) : (
        <Act operation="assignTicket" label={t('support.take')} onAct={() => assign(mine?.user.id ?? null)} />
      )}
      {may('listStaff') && (
        <Act
          operation="assignTicket"
          fields={assignTicket}
          label={t('support.assign')}
          onAct={({ assigned }) => assign(assigned === undefined ? null : Number(assigned))}
        >
          <Colleagues value={ticket.assigned?.id} />
        </Act>
      )}
      <Act
        operation="updateTicket"
        label={t(ticket.status === 'closed' ? 'support.reopen' : 'support.close')}
        ahead={{
          of: staffTicket(path).queryKey,
          becomes: (now: { ticket: StaffTicket }) => ({ ...now, ticket: { ...now.ticket, status: turned } }),
        }}
        onAct={() => client.patch('/staff/tickets/{tid}', { path, body: { status: turned } })}
      />
      <Act
        operation="updateTicket"
        fields={updateTicket}
        label={t('support.change')}
        of={partOf(drawnOf('/staff/tickets/{tid}', { path }), ({ ticket: whole }) => sorted(whole))}
        onAct={({ subject, department, priority, status, service_id: service }, _files, ifMatch) =>
          client.patch('/staff/tickets/{tid}', {
            ifMatch,
            path,
            body: {
              ...{ subject, department, priority: priority as Schema<'TicketPriority'> },
              ...(status !== undefined && { status: status as SetState }),
              service_id: service === undefined ? null : Number(service),
            },
          })
        }
      >
        {(now) => (
          <>
            <Named name="subject" value={now.subject} />
            <Departments value={now.department} />
            <NamedChoice name="priority" value={now.priority} />
            <NamedChoice name="status" isOptional />
            <Named name="service_id" value={now.service_id} isOptional />
          </>
        )}
      </Act>
      <Act
        operation="mergeTicket"
        fields={mergeTicket}
        label={t('support.merge')}
        text={t('support.mergeText')}
        onAct={({ tid: into = '' }) => client.post('/staff/tickets/{tid}/merge', { path, body: { into } })}
      >
        <Named name="tid" />
      </Act>
      <Act
        operation="splitTicket"
        fields={splitTicket}
        label={t('support.split')}
        text={t('support.splitText')}
        onAct={({ subject = '', ...ticked }) =>
          client.post('/staff/tickets/{tid}/split', {
            path,
            body: { subject, message_ids: Object.keys(ticked).map(Number) },
          })
        }
      >
        <Named name="subject" />
        {ticket.messages.map(({ id, name, message }) => (
          <Tick key={id} name={String(id)} label={`${name}: ${message.slice(0, 80)}`} />
        ))}
      </Act>
    </Group>
  );
}

function Colleagues({ value }: { value: number | undefined }) {
  const { data } = useInfiniteQuery(staffPeople());
  const people = data?.pages.flatMap((page) => page.items) ?? [];
  return (
    <NamedChoice
      key={people.length}
      name="assigned"
      isOptional
      value={value}
      of={people.map(({ id, first_name: first, last_name: last }) => ({
        value: String(id),
        label: `${first} ${last}`,
      }))}
    />
  );
}

/** How often others are told that somebody writes. */
const tellMs = 10_000;

function Answer({ ticket }: { ticket: StaffTicket }) {
  const { t } = useText();
  const word = useWord();
  const queries = useQueryClient();
  const [isNote, setNote] = useState(false);
  const [draft, setDraft] = useState({ text: '', version: 0 });
  const typed = useRef('');
  const told = useRef(0);
  const path = { tid: ticket.tid };
  const say = (writing: boolean) =>
    void client.post('/staff/tickets/{tid}/writing', { path, body: { writing } }).catch(() => undefined);
  const type = (event: { target: EventTarget }) => {
    if (!(event.target instanceof HTMLTextAreaElement)) return;
    typed.current = event.target.value;
    if (performance.now() - told.current < tellMs && told.current > 0) return;
    told.current = performance.now();
    say(true);
  };
  const restart = (text: string) => {
    typed.current = text;
    setDraft(({ version }) => ({ text, version: version + 1 }));
  };
  const canned = useMutation({
    mutationFn: async (id: number) => {
      const { message } = await client.post('/staff/canned-replies/{id}/preview', {
        path: { id },
        body: { tid: ticket.tid },
      });
      restart([typed.current, message].filter((text) => text !== '').join('\n\n'));
    },
  });
  return (
    <Paper
      withBorder
      p="md"
      className={isNote ? 'note' : undefined}
      component="section"
      aria-label={t('support.answer')}
    >
      <Stack gap="sm" onInput={type}>
        <Group gap="xs">
          <Button
            size="xs"
            variant={isNote ? 'default' : 'filled'}
            aria-pressed={!isNote}
            onClick={() => setNote(false)}
          >
            {t('support.reply')}
          </Button>
          <Button
            size="xs"
            variant={isNote ? 'filled' : 'default'}
            aria-pressed={isNote}
            onClick={() => setNote(true)}
          >
            {t('support.note')}
          </Button>
          {!isNote && <Canned onChoose={(id) => canned.mutate(id)} />}
        </Group>
        <Refusal error={canned.error} />
        <Form
          fields={answerTicket}
          key={draft.version}
          submit={t(isNote ? 'support.writeNote' : 'support.send')}
          onSubmit={async ({ message = '', status }, files) => {
            const attachments = attachmentsOf(files);
            if (isNote)
              await client.post('/staff/tickets/{tid}/notes', { path, body: { message, attachments } });
            else
              await client.post('/staff/tickets/{tid}/replies', {
                path,
                body: {
                  ...{ message, attachments, last_reply_id: lastOf(ticket) },
                  ...(status !== undefined && { status: status as SetState }),
                },
              });
            told.current = 0;
            say(false);
            restart('');
            await queries.invalidateQueries({ queryKey: ['staff', 'tickets'] });
          }}
        >
          <LongField
            name="message"
            label={t(isNote ? 'support.noteLabel' : 'support.replyLabel')}
            help={t('tickets.markdownHelp')}
            defaultValue={draft.text}
          />
          {!isNote && (
            <NativeSelect
              name="status"
              label={t('support.then')}
              data={[
                { value: '', label: word('answered') },
                ...states
                  .filter((each) => each !== 'answered')
                  .map((value) => ({ value, label: word(value) })),
              ]}
            />
          )}
          <FileField name="attachments" label={t('tickets.files')} />
        </Form>
      </Stack>
    </Paper>
  );
}

/** The newest message that was read: an answer to something else than that is refused. */
function lastOf({ messages }: StaffTicket): number | undefined {
  return messages.findLast(({ kind }) => kind !== 'note')?.id;
}

function Canned({ onChoose }: { onChoose: (id: number) => void }) {
  const { t } = useText();
  const { data } = useInfiniteQuery(cannedReplies());
  const replies = data?.pages.flatMap((page) => page.items) ?? [];
  if (replies.length === 0) return null;
  return (
    <NativeSelect
      size="xs"
      miw={0}
      maw="100%"
      aria-label={t('support.canned')}
      value=""
      onChange={({ currentTarget: { value } }) => value !== '' && onChoose(Number(value))}
      data={[
        { value: '', label: t('support.canned') },
        ...replies.map(({ id, name }) => ({ value: String(id), label: name })),
      ]}
    />
  );
}

function Customer({ ticket }: { ticket: StaffTicket }) {
  const { t, language } = useText();
  const word = useWord();
  const { customer, organization } = ticket;
  return (
    <Stack gap="md">
      <Section title={t('support.about')}>
        <Facts
          of={ticket}
          names={[
            'organization',
            'user',
            'tid',
            'department',
            'priority',
            'assigned',
            'due_at',
            'created_at',
          ]}
          cells={{
            organization: () => (
              <LinkTo to="/staff/organizations/$id" params={{ id: String(organization.id) }}>
                {organization.name}
              </LinkTo>
            ),
          }}
        />
      </Section>
      {ticket.service_id !== null && <Concerned id={ticket.service_id} />}
      <Few title={t('support.services')} of={customer.services}>
        {(each) => (
          <>
            <LinkTo to="/staff/services/$id" params={{ id: String(each.id) }}>
              {each.domain ?? each.product}
            </LinkTo>{' '}
            · {word(each.status)}
          </>
        )}
      </Few>
      <Few title={t('support.openInvoices')} of={customer.open_invoices}>
        {(each) => (
          <LinkTo to="/staff/invoices/$id" params={{ id: String(each.id) }}>
            {money(each.due, each.currency, language)}
          </LinkTo>
        )}
      </Few>
      <Few title={t('support.failedActions')} of={customer.failed_actions}>
        {(each) => `${each.command}: ${each.message ?? ''} · ${moment(each.created_at, language)}`}
      </Few>
      <Few title={t('support.lastTickets')} of={customer.tickets.map((each) => ({ ...each, id: each.tid }))}>
        {(each) => (
          <>
            <LinkTo to="/staff/tickets/$tid" params={{ tid: each.tid }}>
              {each.subject}
            </LinkTo>{' '}
            · {word(each.status)}
          </>
        )}
      </Few>
    </Stack>
  );
}

/** The service that a ticket is about. */
function Concerned({ id }: { id: number }) {
  const { t } = useText();
  const { data, error, refetch } = useQuery(staffService({ id }));
  const found = data?.service;
  return (
    <Section title={t('support.service')}>
      {error !== null && <Refusal error={error} onRetry={() => void refetch()} />}
      {found === undefined && error === null && <Skeleton height={90} />}
      {found !== undefined && (
        <>
          <LinkTo
            to="/staff/services/$id"
            params={{ id: String(id) }}
            fw={600}
            style={{ overflowWrap: 'anywhere' }}
          >
            {found.domain ?? found.product.name}
          </LinkTo>
          <Facts of={found} names={['status', 'product', 'primary_ip', 'duedate']} />
        </>
      )}
    </Section>
  );
}

interface FewProps<Item> {
  title: string;
  of: readonly Item[];
  children: (item: Item) => ReactNode;
}

function Few<Item extends { id: string | number }>({ title, of, children }: FewProps<Item>) {
  if (of.length === 0) return null;
  return (
    <Section title={title}>
      <Bullets size="sm" spacing={4} styles={{ item: { overflowWrap: 'anywhere' } }}>
        {of.map((each) => (
          <Bullets.Item key={each.id}>{children(each)}</Bullets.Item>
        ))}
      </Bullets>
    </Section>
  );
}
