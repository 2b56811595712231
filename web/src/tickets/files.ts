import type { Schema } from '../../../client/index.ts';

/** Files that somebody chose, as the API takes them beside a message. */
export function attachmentsOf(files: readonly File[]): Promise<Schema<'NewTicketAttachment'>[]> {
  return Promise.all(files.map(async (file) => ({ name: file.name, content_base64: await base64Of(file) })));
}

async function base64Of(file: File): Promise<string> {
  const url = await new Promise<string>((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result));
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(file);
  });
  return url.slice(url.indexOf(',') + 1);
}
