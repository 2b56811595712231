import { useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { answerTicket } from '../../../../client/generated/fields/answerTicket.ts';
import type { Schema } from '../../../../client/index.ts';
import { client } from '../../data/client.ts';
import { cannedReplies } from '../../data/queries/staff/index.ts';
import { useText } from '../../text/index.ts';
import {
  Button,
  FileField,
  Form,
  Group,
  LongField,
  NativeSelect,
  Paper,
  Refusal,
  Stack,
  useWord,
} from '../../ui/index.ts';
import { attachmentsOf } from '../files.ts';
import { type SetState, states } from './states.ts';

type StaffTicket = Schema<'StaffTicket'>;

/** How often others are told that somebody writes. */
const tellMs = 10_000;

/** Where staff writes a reply or a note. */
export function Answer({ ticket }: { ticket: StaffTicket }) {
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
