import type { Schema } from '../../../client/index.ts';

const remembered = 'innkeeper.acting';

export interface Acting {
  token: string;
  impersonation: Schema<'Impersonation'>;
}

/** Of this tab alone, and forgotten with it: other tabs stay staff's own. */
let current: Acting | null | undefined;

function read(): Acting | null {
  const kept = sessionStorage.getItem(remembered);
  return kept === null ? null : (JSON.parse(kept) as Acting);
}

/** As whom staff acts in this tab; null for themselves. */
export function acting(): Acting | null {
  if (current === undefined) current = read();
  return current;
}

export function actAs(next: Acting | null): void {
  current = next;
  if (next === null) sessionStorage.removeItem(remembered);
  else sessionStorage.setItem(remembered, JSON.stringify(next));
}
