import type { Seal } from '../../platform/index.ts';

/**
 * A link in a mail that lets in whoever follows it, so nobody but its recipient may read it: not in the database, the
 * journal or the mail log. Its token is made of what it is for by the installation's key, where the mail goes out.
 */
export interface MailLink {
  /** Of the dashboard: `/reset-password`. */
  page: string;
  /** What it is for; the token is made of it: `reset 4503599627370601`. */
  for: string;
}

/** Stands in the text of the mail, as a line of its own. */
export const place = '[The link is in the mail itself]';

/** The token that a link carries; whoever takes it knows it by its hash. */
export function linkToken(seal: Seal, wanted: string): string {
  return seal.fingerprint(`mail link ${wanted}`).toString('base64url');
}

/** Where a link leads. */
export function urlOfLink(link: MailLink, seal: Seal, publicUrl: string): string {
  return `${publicUrl}${link.page}?token=${linkToken(seal, link.for)}`;
}

/** The text as its recipient gets it. */
export function withLink(body: string, link: MailLink | null, seal: Seal, publicUrl: string): string {
  if (link === null) return body;
  const url = urlOfLink(link, seal, publicUrl);
  return body
    .split('\n')
    .map((line) => (line === place ? url : line))
    .join('\n');
}
