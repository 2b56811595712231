import { hash } from 'node:crypto';

/** The strong ETag of an answer with this body. */
export function etagOf(body: string | Buffer): string {
  return `"${hash('sha256', body, 'base64url').slice(0, 27)}"`;
}

/** The same of data whose tag leaves some fields out, wherever they stand. */
export function etagWithout(fields: readonly string[], data: unknown): string {
  return etagOf(JSON.stringify(data, (name, value: unknown) => (fields.includes(name) ? undefined : value)));
}

/** Whether a list of tags, as If-Match and If-None-Match send it, names this one. */
export function matchesTag(header: string, tag: string, comparison: 'strong' | 'weak'): boolean {
  if (header.trim() === '*') return true;
  return header.split(',').some((part) => {
    const candidate = part.trim().replace(/-(br|gzip)"$/, '"'); // of a compressed answer
    return candidate === tag || (comparison === 'weak' && candidate === `W/${tag}`);
  });
}
