import type { Schema } from '../../../client/index.ts';
import type { Files } from '../ui/index.ts';

/** Files that somebody chose, as the API takes them beside a message. */
export function attachmentsOf({ attachments = [] }: Files): Schema<'NewTicketAttachment'>[] {
  return attachments.map(({ file: { name }, content_base64 }) => ({ name, content_base64 }));
}
