import type { IncomingHttpHeaders } from 'node:http';
import type { Clock } from '../clock.ts';
import { AppError, type ErrorCode, fail } from '../errors.ts';
import { readCredential, readOrganization } from './credential.ts';
import { whyNoKey, whyNotAKey } from './hints.ts';
import type { Limiter } from './limiter.ts';
import { limitHeadersOf } from './limits.ts';
import type { Impersonation, Principal, Principals } from './principal.ts';
import type { Reach } from './reach.ts';
import type { Auth } from './route.ts';

/** Who calls, and for which organization; settled before anything of the request's content is looked at. */
export interface Caller {
  readonly principal: Principal;
  readonly organizationId: number | null;
}

/** What a route asks of its caller. */
export interface Admission {
  auth: Exclude<Auth, 'public'>;
  unauthorized?: 'unauthorized' | 'unauthenticated';
  organization?: 'default-when-absent' | 'of-members' | 'header-or-query';
  permission?: string;
  staffRoles?: readonly string[];
  area?: string;
  sessionOnly?: boolean;
  fresh?: boolean;
  /** Whether an organization that is blocked may not do it. */
  stopsWhenBlocked?: boolean;
  /** What staff needs who acts as the caller: to read, to change, or nothing lets them. */
  reach: Reach;
}

/** How long it counts that somebody proved who they are, for what endangers their account. */
const freshForMs = 10 * 60_000;

/** What it takes to know somebody. */
interface Knowing {
  principals: Principals;
  limiter: Limiter;
  publicOrigin: string;
  clock: Clock;
}

/** What is read of a request to know who sends it. */
interface Asking {
  method: string;
  url: string;
  headers: IncomingHttpHeaders;
  address: string;
}

/** Counts who is known, in the organization that was asked for. Without a promise where nobody else has to be asked. */
export type CountCaller = (principal: Principal, organizationId: number | null) => Promise<void> | void;

/**
 * Settles who is asking: authentication first (401), then the organization (400, 403), then what the role
 * allows (403). Not being a member and there being no such organization get the same answer. Whoever is known is
 * counted, also when what they ask for is refused. Whoever is remembered is known at once, without a promise: that is nearly every request of a busy key.
 */
export function requireCaller(
  wanted: Admission,
  request: Asking,
  knowing: Knowing,
  count: CountCaller,
): Caller | Promise<Caller> {
  const credential = readCredential(request.method, request.headers, knowing.publicOrigin);
  if (credential === null) {
    throw fail(wanted.unauthorized ?? 'unauthorized', { details: whyNoKey(request.headers, request.url) });
  }
  const asked = wanted.auth === 'organization' ? organizationAsked(wanted, request) : null;
  const found = knowing.principals.remembered(credential, asked, request.address);
  if (found === null || (wanted.auth === 'organization' && asked === null))
    return requireAnew(wanted, request, { credential, asked }, knowing, count);
  const admit = (): Caller => {
    checkAllowed(wanted, found, asked, knowing);
    return { principal: found, organizationId: asked };
  };
  const counted = count(found, asked);
  return counted instanceof Promise ? counted.then(admit) : admit();
}

/**
 * Whether somebody who has a stream open may still have it: the same credential is good, and allows the same. Null when
 * not. Nothing is counted, and no session lasts longer for it.
 */
export async function revalidate(
  wanted: Admission,
  request: Asking,
  organizationId: number | null,
  { principals, publicOrigin, clock }: Knowing,
): Promise<Principal | null> {
  const credential = readCredential(request.method, request.headers, publicOrigin);
  if (credential === null) return null;
  const principal = await principals.look(credential, organizationId, request.address);
  if (principal === null) return null;
  try {
    checkAllowed(wanted, principal, organizationId, { clock, publicOrigin });
    return principal;
  } catch (error) {
    if (error instanceof AppError) return null;
    throw error;
  }
}

/** The organization of the header; where browsers can send none, that of `?organization_id=`. */
function organizationAsked({ organization }: Admission, { headers, url }: Asking): number | null {
  const byHeader = readOrganization(headers);
  if (organization !== 'header-or-query') return byHeader;
  const [, query = ''] = url.split('?', 2);
  const named = new URLSearchParams(query).get('organization_id');
  if (named === null) return byHeader;
  const byQuery = readOrganization({ 'x-organization-id': named });
  if (headers['x-organization-id'] === undefined) return byQuery;
  if (byHeader === byQuery) return byHeader;
  const message = 'names another organization than the header x-organization-id; send one of the two';
  throw fail('organization_required', { details: [{ field: 'query.organization_id', message }] });
}

/** The same for who is not remembered, or named no organization. */
async function requireAnew(
  wanted: Admission,
  request: Asking,
  { credential, asked }: { credential: string; asked: number | null },
  knowing: Knowing,
  count: CountCaller,
): Promise<Caller> {
  const { principals, limiter } = knowing;
  const refusal: ErrorCode = wanted.unauthorized ?? 'unauthorized';
  await limiter.checkRefused(request.address, credential);
  let principal = await principals.find(credential, asked, request.address);
  if (principal === null) {
    const left = await limiter.countRefused(request.address, credential);
    const details = whyNotAKey(request.headers);
    const error = fail(refusal, details.length > 0 ? { details } : {});
    if (left !== null) limitHeadersOf.set(error, left);
    throw error;
  }
  limiter.noteGood(credential);
  await count(principal, asked);
  let organizationId = asked;
  if (
    wanted.auth === 'organization' &&
    organizationId === null &&
    !isAlone(wanted, request.headers, principal)
  ) {
    organizationId = organizationWithoutHeader(wanted, request.headers, principal);
    principal = await principals.find(credential, organizationId, request.address);
    if (principal === null) throw fail(refusal);
  }
  checkAllowed(wanted, principal, organizationId, knowing);
  return { principal, organizationId };
}

/** Whoever is in no organization has none to name where it is about themselves. */
function isAlone(wanted: Admission, headers: IncomingHttpHeaders, principal: Principal): boolean {
  return (
    wanted.organization === 'of-members' && headers['x-organization-id'] === undefined && !principal.isMember
  );
}

function organizationWithoutHeader(
  wanted: Admission,
  headers: IncomingHttpHeaders,
  principal: Principal,
): number {
  if (wanted.organization !== 'default-when-absent' || headers['x-organization-id'] !== undefined) {
    throw fail('organization_required');
  }
  if (principal.defaultOrganizationId === null) throw fail('organization_ambiguous');
  return principal.defaultOrganizationId;
}

/** Whether somebody may call a route of staff, as they are signed in; whether they proved it lately is asked each time. */
export function mayAsStaff(
  wanted: Pick<Admission, 'staffRoles' | 'area'>,
  { staffRole, signIn, keptTo }: Pick<Principal, 'staffRole' | 'signIn' | 'keptTo'>,
): boolean {
  if (staffRole === null || signIn?.strong === false) return false;
  return (wanted.staffRoles?.includes(staffRole) ?? true) && isReached(wanted.area, keptTo);
}

function refuseFor(code: 'forbidden' | 'permission_denied', message: string) {
  return fail(code, { details: [{ field: 'x-organization-id', message }] });
}

function checkAllowed(
  wanted: Admission,
  principal: Principal,
  organizationId: number | null,
  { clock, publicOrigin }: Pick<Knowing, 'clock' | 'publicOrigin'>,
): void {
  const { signIn, impersonation } = principal;
  if (wanted.auth === 'staff') {
    if (principal.staffRole === null) throw fail('staff_only');
    if (signIn?.strong === false) throw fail('second_factor_required');
    if (wanted.staffRoles !== undefined && !wanted.staffRoles.includes(principal.staffRole)) {
      throw fail('permission_denied', { message: 'Your staff role does not allow this' });
    }
    checkArea(wanted.area, principal.keptTo);
    checkProven(wanted, principal, clock);
    return;
  }
  if (impersonation !== undefined) checkReach(wanted.reach, impersonation);
  if (wanted.area !== undefined) checkArea(wanted.area, principal.keptTo);
  const isOf = wanted.organization !== 'of-members' || organizationId !== null;
  if (wanted.auth === 'organization' && isOf && principal.permissions === null) {
    const orKey = principal.keptTo === null ? '' : ', or that your key is not for';
    throw refuseFor('forbidden', `names an organization that you are no member of${orKey}`);
  }
  // What is about people themselves stays open: there they set one up.
  if (wanted.auth === 'organization' && wanted.organization !== 'of-members' && principal.lacksFactor)
    throw lockedOut(publicOrigin);
  if (wanted.stopsWhenBlocked && principal.isBlocked) throw fail('organization_blocked');
  if (wanted.permission !== undefined && !principal.permissions?.has(wanted.permission)) {
    if (principal.ofRole?.has(wanted.permission)) throw keptFrom(wanted.permission);
    throw refuseFor('permission_denied', `names an organization in which you lack ${wanted.permission}`);
  }
  checkProven(wanted, principal, clock);
}

/** The role would allow it, and the key is for less. */
function keptFrom(permission: string) {
  const message = `Your role allows this, and your key is kept to less: it lacks ${permission}. Use another key, or change what this one is kept to`;
  return fail('permission_denied', {
    message,
    details: [{ field: 'token', message: `is a key that is kept to less than ${permission}` }],
  });
}

function lockedOut(publicOrigin: string) {
  const message = `This organization wants a second factor: set one up at ${publicOrigin}/account/security, then sign in with it`;
  const details = [
    { field: 'x-organization-id', message: 'names an organization that wants a second factor' },
  ];
  return fail('second_factor_required', { message, details });
}

function checkReach(reach: Reach, { readOnly }: Impersonation): void {
  if (reach === 'personal') throw fail('impersonation_refused');
  if (reach === 'change' && readOnly)
    throw fail('impersonation_refused', { message: 'You asked to read alone as this customer' });
}

function checkProven(wanted: Admission, principal: Principal, clock: Clock): void {
  if (wanted.sessionOnly && principal.signIn === null) throw fail('session_required');
  if (wanted.fresh) requireFresh(principal, clock);
}

/**
 * For what endangers an account in only some of a route's requests: only somebody signed in, who proved in the last ten
 * minutes who they are, goes on. `session_required`, `reauthentication_required`.
 */
export function requireFresh({ signIn }: Pick<Principal, 'signIn'>, clock: Clock): void {
  if (signIn === null) throw fail('session_required');
  if (clock.now().getTime() - signIn.provenAt.getTime() >= freshForMs)
    throw fail('reauthentication_required');
}

function isReached(area: string | undefined, keptTo: Principal['keptTo']): boolean {
  return keptTo === null || area === 'any' || (area !== undefined && keptTo.has(area));
}

function checkArea(area: string | undefined, keptTo: Principal['keptTo']): void {
  if (isReached(area, keptTo)) return;
  const wants = area === undefined || area === 'all' ? 'that is kept to nothing' : `for ${area}`;
  const message = `Your key is kept to ${[...(keptTo ?? [])].join(' and ') || 'no area at all'}, and this wants one ${wants}`;
  throw fail('permission_denied', { message });
}
