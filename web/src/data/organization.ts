import { acting } from './impersonation.ts';

const remembered = 'innkeeper.organization';
let chosen = Number(localStorage.getItem(remembered)) || null;

/** The organization whose things are shown; null until the caller's organizations were read. */
export function chosenOrganization(): number | null {
  const now = acting();
  return now === null ? chosen : now.impersonation.organization_id;
}

export function chooseOrganization(id: number | null): void {
  // Whoever acts as a customer does so in one organization, and goes back to their own afterwards.
  if (acting() !== null) return;
  chosen = id;
  if (id === null) localStorage.removeItem(remembered);
  else localStorage.setItem(remembered, String(id));
}
