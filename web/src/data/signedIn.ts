const remembered = 'innkeeper.signed-in';

/**
 * Whether it is worth asking who is signed in: pages cannot read the session's cookie. Without this every visitor's
 * first request would be refused.
 */
export function mayBeSignedIn(): boolean {
  return localStorage.getItem(remembered) !== null;
}

export function rememberSignedIn(isSignedIn: boolean): void {
  if (isSignedIn) localStorage.setItem(remembered, 'yes');
  else localStorage.removeItem(remembered);
}
