/**
 * What of long lists somebody looks at. When something happens, the first page of a long list is read anew and those that
 * are in sight; a thousand pages would be a thousand requests for each event. The others are old, and read when they
 * come into sight.
 */
const sights = new Map<object, ReadonlySet<object>>();
const old = new WeakSet<object>();

/** Tells which rows of a list are in sight; null for a list that is gone. */
export function lookAt(list: object, rows: readonly object[] | null): void {
  if (rows === null) sights.delete(list);
  else sights.set(list, new Set(rows));
}

export function isInSight(row: object): boolean {
  return [...sights.values()].some((rows) => rows.has(row));
}

export function isOld(row: object): boolean {
  return old.has(row);
}

export function markOld(rows: readonly object[], isSo: boolean): void {
  for (const row of rows)
    if (isSo) old.add(row);
    else old.delete(row);
}
