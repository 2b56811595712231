import { inSql, openStatuses } from '../states.ts';

/** In SQL: whether the action `a` holds its machine's lock. One that was paid may wait for it. */
export function holdsLock(a: string): string {
  return `${a}.status in ${inSql(openStatuses)} and not ${a}.waits`;
}
