import type { Clock } from '../clock.ts';
import type { Actor } from '../context.ts';

/** Somebody whose credential was accepted, seen from the organization that the request asked for. */
export interface Principal {
  /** `user` for a session, `api_key` for a key. On staff routes both become `staff`. */
  readonly actor: Actor & { readonly userId: number };
  /** The session behind the credential, for "this device" and sign-out; null for an API key. */
  readonly sessionId: number | string | null;
  /** How and when they proved who they are; null for an API key. */
  readonly signIn: SignIn | null;
  /** Of staff that acts as this person; absent for the person. */
  readonly impersonation?: Impersonation;
  /** `administrator`, `billing`, `support`, `operator`; null for customers. */
  readonly staffRole: string | null;
  /**
   * What a key is kept to, where no permission says it, as on staff routes: areas, or a word for what is no area; null for one
   * that is kept to nothing, and for sessions.
   */
  readonly keptTo: ReadonlySet<string> | null;
  /**
   * What this credential may do in the organization that was asked for: the member's role, cut down to the
   * key's scopes. Null when none was asked for, when it does not exist, or when the caller is no member of it.
   */
  readonly permissions: ReadonlySet<string> | null;
  /** What the member's role allows without the key's scopes and areas; absent of sessions. */
  readonly ofRole?: ReadonlySet<string>;
  /** The caller's only or chosen organization; null when that is ambiguous or there is none. */
  readonly defaultOrganizationId: number | null;
  /** Whether all that a key asks for is tried out and taken back; absent when not. */
  readonly isTest?: boolean;
  /** Whether lists leave out what is cancelled or over, as the caller prefers; absent when not. */
  readonly hidesCancelled?: boolean;
  /** Whether the caller belongs to any organization; the provider's own people often do not. */
  readonly isMember: boolean;
  /** Whether the organization that was asked for wants a second factor, and this caller stands without one; absent when not. */
  readonly lacksFactor?: boolean;
  /** Whether staff lets the organization that was asked for order and change nothing; absent when not. */
  readonly isBlocked?: boolean;
}

export interface Impersonation {
  readonly staffId: number;
  readonly readOnly: boolean;
  readonly until: Date;
}

export interface SignIn {
  /** Whether a second factor or a passkey was shown. */
  readonly strong: boolean;
  /** When they last showed a password, a code or a passkey. */
  readonly provenAt: Date;
}

/**
 * Decides who is asking. Null when the credential is unknown, expired, revoked, or not good from this address:
 * the caller gets 401. Throws only when the answer cannot be had (database down). The platform cannot import
 * rooms, so the composition root passes this in.
 */
export type Authenticate = (
  credential: string,
  organizationId: number | null,
  ip: string,
  /** Nobody asks for anything: a stream is still open. It does not count as use of the credential. */
  isIdle?: boolean,
) => Promise<Principal | null>;

export interface Principals {
  find(credential: string, organizationId: number | null, ip: string): Promise<Principal | null> | Principal;
  /** The same for who has a stream open, which does not keep their session from ending. */
  look(credential: string, organizationId: number | null, ip: string): Promise<Principal | null> | Principal;
  /** Who was found a moment ago; null for all others. */
  remembered(credential: string, organizationId: number | null, ip: string): Principal | null;
  forget(): void;
}

const rememberMs = 1_000;
const rememberAtMost = 10_000;

interface Remembered {
  /** When the question was asked, not answered: what was revoked since then may be missing from the answer. */
  at: number;
  principal: Principal | Promise<Principal | null>;
}

const all = new Set<WeakRef<Principals>>();

/**
 * Drops every remembered principal of this process. Call it after the commit that revokes a key, ends a
 * session or changes a role, and the change holds at once here; other processes follow within a second.
 */
export function forgetPrincipals(): void {
  for (const reference of all) {
    const principals = reference.deref();
    if (principals === undefined) all.delete(reference);
    else principals.forget();
  }
  for (const listener of listeners) listener();
}

const listeners = new Set<() => void>();

/** Tells of each time that this process forgot its principals, until the returned function is called. */
export function onForgotten(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/**
 * Puts a memory of one second in front of `authenticate`, so that a busy key costs no round trip and a revoked
 * one stops within that second. Equal questions asked at once share one answer. Refusals and failures are
 * forgotten at once: a new key works immediately, and guessing keys fills no memory.
 */
export function rememberPrincipals(authenticate: Authenticate, clock: Clock): Principals {
  const remembered = new Map<string, Remembered>();

  const ask = (key: string, at: number, ...question: Parameters<Authenticate>): Promise<Principal | null> => {
    const entry: Remembered = { at, principal: authenticate(...question) };
    const answer = (entry.principal as Promise<Principal | null>).then(
      (principal) => {
        if (principal !== null) entry.principal = principal;
        else if (remembered.get(key) === entry) remembered.delete(key);
        return principal;
      },
      (error: unknown) => {
        if (remembered.get(key) === entry) remembered.delete(key);
        throw error;
      },
    );
    entry.principal = answer;
    remembered.delete(key); // so that insertion order stays order of age
    remembered.set(key, entry);
    if (remembered.size > rememberAtMost) remembered.delete(remembered.keys().next().value ?? '');
    return answer;
  };

  const fresh = (key: string, now: number): Remembered | null => {
    const entry = remembered.get(key);
    const age = entry === undefined ? -1 : now - entry.at;
    return entry !== undefined && age >= 0 && age < rememberMs ? entry : null;
  };
  const recall = (key: string, ...question: Parameters<Authenticate>) => {
    const now = clock.now().getTime();
    return fresh(key, now)?.principal ?? ask(key, now, ...question);
  };

  const principals: Principals = {
    find: (credential, organizationId, ip) =>
      recall(keyOf(credential, organizationId, ip), credential, organizationId, ip),
    look: (credential, organizationId, ip) =>
      recall(`idle ${keyOf(credential, organizationId, ip)}`, credential, organizationId, ip, true),
    remembered(credential, organizationId, ip) {
      const entry = fresh(keyOf(credential, organizationId, ip), clock.now().getTime());
      return entry === null || entry.principal instanceof Promise ? null : entry.principal;
    },
    forget: () => remembered.clear(),
  };
  all.add(new WeakRef(principals));
  return principals;
}

function keyOf(credential: string, organizationId: number | null, ip: string): string {
  return `${organizationId ?? ''} ${ip} ${credential}`;
}
