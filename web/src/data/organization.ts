import { acting } from './impersonation.ts';

const remembered = 'innkeeper.organization';
/** Undefined until somebody asks: what a browser keeps is read late, since that takes it longer than anything else at first. */
let chosen: number | null | undefined;

/** The organization whose things are shown; null until the caller's organizations were read. */
export function chosenOrganization(): number | null {
  const now = acting();
  if (now !== null) return now.impersonation.organization_id;
  if (chosen === undefined) chosen = Number(localStorage.getItem(remembered)) || null;
  return chosen;
}

export function chooseOrganization(id: number | null): void {
  // Whoever acts as a customer does so in one organization, and goes back to their own afterwards.
  if (acting() !== null) return;
  chosen = id;
  if (id === null) localStorage.removeItem(remembered);
  else localStorage.setItem(remembered, String(id));
}

/** The one of theirs whose things are shown; `usual` is the one that they said they begin with. */
export function organizationOf<Each extends { id: number }>(
  theirs: readonly Each[],
  usual: number | null,
): Each | undefined {
  const wanted = chosenOrganization() ?? usual;
  return theirs.find(({ id }) => id === wanted) ?? theirs[0];
}
