import type { Route } from './route.ts';

/** What staff needs who acts as a customer: to read, to change, or nothing lets them. */
export type Reach = 'read' | 'change' | 'personal';

/** How far a route goes, for staff that acts as a customer. */
export function reachOf({ method, path, personal, sessionOnly, fresh }: Reachable): Reach {
  // Passwords, factors, sessions and keys: what is new there is a person's alone without saying so.
  const isOwn = path.startsWith('/dashboard/account/') || (path === '/dashboard/account' && method !== 'GET');
  if (isOwn || personal || sessionOnly || fresh) return 'personal';
  return method === 'GET' ? 'read' : 'change';
}

/**
 * Whether it is refused to an organization that is blocked: unless a route says otherwise, what changes something that
 * belongs to it. What is about people themselves is no matter of the organization.
 */
export function stopsWhenBlocked({ auth, method, organization, path, whileBlocked }: Stoppable): boolean {
  const isPersons = organization === 'of-members' || path.startsWith('/dashboard/account/');
  return auth === 'organization' && !isPersons && !(whileBlocked ?? method === 'GET');
}

type Stoppable = Pick<Route, 'auth' | 'method' | 'path'> &
  Partial<Pick<Route, 'organization' | 'whileBlocked'>>;

type Reachable = Pick<Route, 'method' | 'path'> & Partial<Pick<Route, 'personal' | 'sessionOnly' | 'fresh'>>;
