/** A header field, in small letters and on one line; null when it is not there. */
type Field = (name: string) => string | null;

/**
 * By what a mail is known that no person wrote (RFC 3834, 2076, 2369, 3464); null when nothing says so. A mail of our own that
 * comes back has `Auto-Submitted` too; where somebody on its way took that off, its Message-ID still says it.
 */
export function machineOf(field: Field, contentType: string): string | null {
  const submitted = field('auto-submitted');
  if (submitted !== null && !/^no\b/.test(submitted)) return `Auto-Submitted: ${submitted.slice(0, 60)}`;
  const precedence = field('precedence');
  if (precedence !== null && /^(bulk|list|junk|auto_reply)\b/.test(precedence))
    return `Precedence: ${precedence.slice(0, 60)}`;
  if (field('return-path')?.replaceAll(/\s/g, '') === '<>') return 'Return-Path: <>';
  if (/^multipart\/report\b/.test(contentType)) return `Content-Type: ${contentType.slice(0, 60)}`;
  for (const name of ['list-id', 'list-unsubscribe', 'list-post', 'x-autoreply', 'x-autorespond', 'x-loop'])
    if (field(name) !== null) return name;
  const from = field('from') ?? '';
  if (/\b(mailer-daemon|postmaster|no-?reply|do-?not-?reply)@/.test(from)) return 'From';
  return null;
}
