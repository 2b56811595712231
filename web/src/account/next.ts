/** Where it goes on: a path of ours, never another host. */
export function nextOf(wanted: unknown): string {
  return typeof wanted === 'string' && /^\/(?![/\\])/.test(wanted) ? wanted : '/';
}
