const remembered = 'innkeeper.signed-in';

/**
 * Whether it is worth asking who is signed in: pages cannot read the session's cookie. Without this every visitor's
 * first request would be refused.
 */
export function mayBeSignedIn(): boolean {
  return signedInAs() !== null;
}

/** The id of whoever is signed in here, as it was last known; null for nobody. */
export function signedInAs(): string | null {
  return localStorage.getItem(remembered);
}

/** Keeps who is signed in here, for all tabs; null for nobody. */
export function rememberSignedIn(userId: number | null): void {
  if (userId === null) localStorage.removeItem(remembered);
  else localStorage.setItem(remembered, String(userId));
}

/** Tabs share the session's cookie: one that shows somebody else's pages begins anew. */
export function followOtherTabs(): void {
  window.addEventListener('storage', ({ key, oldValue, newValue }) => {
    if (key === remembered && oldValue !== newValue) window.location.reload();
  });
}
