const remembered = 'innkeeper.organization';
let chosen = Number(localStorage.getItem(remembered)) || null;

/** The organization whose things are shown; null until the caller's organizations were read. */
export function chosenOrganization(): number | null {
  return chosen;
}

export function chooseOrganization(id: number | null): void {
  chosen = id;
  if (id === null) localStorage.removeItem(remembered);
  else localStorage.setItem(remembered, String(id));
}
