import { useMutation } from '@tanstack/react-query';
import type { Schema } from '../../../client/index.ts';
import { client } from '../data/client.ts';
import { saveFile } from '../data/saveFile.ts';
import { bytes } from '../text/formats.ts';
import { useText } from '../text/index.ts';
import { Anchor, Group, Refusal } from '../ui/index.ts';

/** Files beside a message; a press saves one. */
export function Attachments({ files }: { files: readonly Schema<'TicketAttachment'>[] }) {
  const { language } = useText();
  const save = useMutation({
    mutationFn: async ({ id, name }: Schema<'TicketAttachment'>) =>
      saveFile(await client.file('/dashboard/tickets/attachments/{id}', { path: { id } }), name),
  });
  if (files.length === 0) return null;
  return (
    <>
      <Group mt="sm" gap="md">
        {files.map((file) => (
          <Anchor
            key={file.id}
            component="button"
            type="button"
            size="sm"
            style={{ overflowWrap: 'anywhere', textAlign: 'start' }}
            onClick={() => save.mutate(file)}
          >
            {file.name} ({bytes(file.size, language)})
          </Anchor>
        ))}
      </Group>
      <Refusal error={save.error} />
    </>
  );
}
