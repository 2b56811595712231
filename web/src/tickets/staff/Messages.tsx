import type { Schema } from '../../../../client/index.ts';
import { client } from '../../data/client.ts';
import { saveFile } from '../../data/saveFile.ts';
import { bytes, moment } from '../../text/formats.ts';
import { useText } from '../../text/index.ts';
import { Button, Group, Paper, Stack, Text, Written } from '../../ui/index.ts';
import { Markdown } from '../Markdown.tsx';

type StaffTicket = Schema<'StaffTicket'>;

/** What was written in a ticket, the oldest first. */
export function Messages({ messages }: { messages: StaffTicket['messages'] }) {
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
