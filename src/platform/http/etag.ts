import { hash } from 'node:crypto';

/**
 * A strong ETag of what a resource says now. It is made from the data, before serialization, so that a route
 * that changes the resource computes the same tag as the one that reads it.
 */
export function etagOf(data: unknown): string {
  return `"${hash('sha256', JSON.stringify(data), 'base64url').slice(0, 27)}"`;
}

/** Whether a list of tags, as If-Match and If-None-Match send it, names this one. */
export function matchesTag(header: string, tag: string, comparison: 'strong' | 'weak'): boolean {
  if (header.trim() === '*') return true;
  return header.split(',').some((part) => {
    const candidate = part.trim();
    return candidate === tag || (comparison === 'weak' && candidate === `W/${tag}`);
  });
}
