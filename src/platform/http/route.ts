import type { IncomingHttpHeaders } from 'node:http';
import type { Static, TObject, TProperties, TSchema } from 'typebox';
import type { AccountContext, Context, OrganizationContext, StaffContext, TxContext } from '../context.ts';
import type { Database } from '../database/index.ts';
import type { DriverName, Drivers } from '../drivers.ts';
import type { AppError, ErrorCode } from '../errors.ts';
import type { Seal } from '../seal.ts';
import type { Answer, Bytes } from './answer.ts';
import { bytesOf } from './bytes.ts';
import type { FilesOption, ReceivedFile } from './filesOption.ts';
import type { LimitClass } from './limits.ts';
import type { Permission } from './permission.ts';
import type { Principal } from './principal.ts';
import type { Problem } from './problem.ts';
import { Nothing } from './schema.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
export type Auth = 'public' | 'account' | 'organization' | 'staff';

/** Content type of a stream of events, which has no end of its own. */
export const eventStream = 'text/event-stream';

/** What a handler gets first, by the route's `auth`. */
export interface ContextFor {
  public: Context;
  account: AccountContext;
  organization: OrganizationContext;
  staff: StaffContext;
}

/** What a handler gets second: everything parsed. */
export interface Req<P, Q, B, A extends Auth = Auth, N extends DriverName = never> {
  readonly params: P;
  readonly query: Q;
  readonly body: B;
  readonly principal: A extends 'public' ? null : Principal;
  readonly ip: string;
  readonly userAgent: string | null;
  /** Since when the connection has been open that it came over, which may be a proxy's. */
  readonly connectedAt: Date;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Those that the route's `drivers` names. */
  readonly drivers: Pick<Drivers, N>;
  /** Of a route with `files`: those that came, in their order. */
  readonly files: readonly ReceivedFile[];
  /** Of a route that produces `text/event-stream`: what it needs for as long as it is open; null of all others. */
  readonly stream: OpenStream | null;
}

/** A stream outlives the request that opened it. */
export interface OpenStream {
  /** The process's own: neither in a transaction nor anybody's. */
  readonly ctx: Context & { readonly db: Database };
  /** Those that the process has. */
  readonly drivers: Partial<Drivers>;
  /** Who has it open, as they stand now; null when they may have it no more. Throws when that cannot be known. */
  revalidate(): Promise<Principal | null>;
}

export interface RouteOptions<
  A extends Auth,
  P extends TObject,
  Q extends TObject,
  B extends TSchema,
  N extends DriverName = DriverName,
> {
  auth: A;
  /** The operation's id for generated clients and traces, unique and never changed: `getServiceDetails`. */
  operation: string;
  /** A short sentence: `Get service details`. */
  summary: string;
  description?: string;
  params?: P;
  query?: Q;
  /** JSON of this shape, or bytes: `Raw([…])`, `Stream([…])`. Without it a body must be absent or `{}`. */
  body?: B;
  /** Codes this route can answer besides those that every route of its kind can. */
  errors?: readonly ErrorCode[];
  /** Permission the caller's role must have in the organization. */
  permission?: Permission;
  /** Staff roles that may use it; every one when absent. */
  staffRoles?: readonly string[];
  /**
   * The area of keys that this belongs to, `any` for what every key may ask, `all` for keys that are kept to nothing.
   * Without it a staff route refuses keys that are kept to areas. Other routes have it where they are about the person
   * alone, and no permission says it.
   */
  area?: string;
  /** Refuses API keys: only somebody signed in may do this. */
  sessionOnly?: boolean;
  /**
   * What endangers an account: only for somebody signed in, who proved in the last ten minutes who they are. Otherwise
   * 403 `reauthentication_required`.
   */
  fresh?: boolean;
  /**
   * Whether an organization that staff has blocked may do it. Otherwise it may read and change nothing: `true` is for what it
   * changes nevertheless, such as paying what it owes, and `false` for a GET that is more than reading, such as a console.
   */
  whileBlocked?: boolean;
  /** The person's alone, as what is below their account is: staff that acts as them is refused. */
  personal?: boolean;
  /**
   * Without the header, the caller's only or chosen organization is used; or, where it is about people themselves,
   * those who are in no organization need none. The handler of such a route looks at the person alone. Where browsers
   * can send no header, `?organization_id=` names it too.
   */
  organization?: 'default-when-absent' | 'of-members' | 'header-or-query';
  /**
   * Public routes that change something: whose act the journal says it is. A `visitor` is a person we do not know
   * yet, with an address; once the handler knows who it is, `actingAs` says so. `system` is another system that
   * tells us what happened, such as a payment provider, and proves it in a way of its own.
   */
  actor?: 'visitor' | 'system';
  /** Public routes: who sends a credential is known to the handler, with the organization asked for or the default. */
  caller?: 'when-given';
  /** The 401's code; checkout answers `unauthenticated`. */
  unauthorized?: 'unauthorized' | 'unauthenticated';
  /** A stricter class of rate limits on top of the general one; `change` for what customers change, unless it says otherwise. */
  limit?: LimitClass;
  /**
   * Public routes: whose budget counts instead of the address's, for who shows that it is theirs, such as a browser in which
   * somebody signed in before. Others at the same address then cannot lock them out.
   */
  budget?: (headers: IncomingHttpHeaders, seal: Seal) => string | null;
  /** A request may hold a code that people guess: wrong ones are counted by a class of limits of their own. */
  guess?: {
    limit: LimitClass;
    isMade: (req: Req<Static<P>, Static<Q>, Static<B>, A>) => boolean;
    /** What wrong ones are counted by; the address and the organization when absent. */
    keys?: (ctx: Context, req: Req<Static<P>, Static<Q>, Static<B>, A>) => Promise<GuessKeys>;
    /** What is answered when it was wrong. */
    wrong: ErrorCode;
    /** What is answered when too many were. */
    message: string;
  };
  /** Replaces the answer to a request of the wrong shape; undefined keeps it. */
  onInvalid?: (problems: readonly Problem[]) => AppError | undefined;
  /** `off` ignores the header Idempotency-Key. Only for what must run again each time it is asked for. */
  idempotency?: 'off';
  /**
   * GET: sends an ETag and honours If-None-Match. A tag `without` fields that change by themselves still matches after
   * they did; If-None-Match does not count then. Bytes with a tag may be kept by whoever asked, who asks again each time.
   */
  etag?: true | { without: readonly string[] };
  /**
   * PATCH, PUT, DELETE, and each of them has it whose body is no stream: locks the rows that the GET of the same path shows. With the header
   * If-Match this, that GET and the handler run in one transaction, and another tag means 412.
   */
  lock?: (ctx: ContextFor[A] & TxContext, req: Req<Static<P>, Static<Q>, Static<B>, A>) => Promise<unknown>;
  /** Of a change whose GET is on another path: that one, whole, below `/api`. Its tag is what If-Match speaks of. */
  shownAt?: string;
  /** What stands beside `data` in the answer. The handler gives it: `answer(data, {}, { warnings })`. */
  beside?: TProperties;
  /**
   * A live route: what it talks to outside while the caller waits, as `req.drivers`. In a process that has no such
   * driver it answers 503 `driver_absent`. Everything that can wait is a job instead.
   */
  drivers?: readonly N[];
  /** Of a live route, which requests are: for others a process need not have the drivers, and they are as those of any route. */
  liveWhen?: (req: Req<Static<P>, Static<Q>, Static<B>, A>) => boolean;
  /** Largest body in bytes, when it is not 1 MiB, and 128 KiB of what strangers send as JSON. */
  bodyLimit?: number;
  /** A POST whose body may bring files along. It names the drivers that keep them. */
  files?: FilesOption;
}

/** What wrong guesses are counted by: each of the keys and, unless it is left out, where they come from. */
export interface GuessKeys {
  keys: readonly string[];
  byAddress: boolean;
}

interface WithData<D extends TSchema> {
  /** Shape of `data` in the answer. */
  data: D;
}

interface WithBytes {
  /** Content type of an answer that is not JSON; the handler returns {@link Bytes}. */
  produces: string;
}

type Handler<
  A extends Auth,
  P extends TSchema,
  Q extends TSchema,
  B extends TSchema,
  N extends DriverName,
  R,
> = (ctx: ContextFor[A], req: Req<Static<P>, Static<Q>, Static<B>, A, N>) => Promise<R> | R;

type Empty = typeof Nothing;

/** Declares one endpoint: options, then what it does. */
export interface Declare {
  <
    A extends Auth,
    D extends TSchema,
    P extends TObject = Empty,
    Q extends TObject = Empty,
    B extends TSchema = Empty,
    const N extends DriverName = never,
  >(
    path: string,
    options: RouteOptions<A, P, Q, B, N> & WithData<D>,
    handler: Handler<A, P, Q, B, N, Static<D> | Answer<Static<D>>>,
  ): void;
  <
    A extends Auth,
    P extends TObject = Empty,
    Q extends TObject = Empty,
    B extends TSchema = Empty,
    const N extends DriverName = never,
  >(
    path: string,
    options: RouteOptions<A, P, Q, B, N> & WithBytes,
    handler: Handler<A, P, Q, B, N, Bytes>,
  ): void;
}

export interface Declarations {
  get: Declare;
  post: Declare;
  put: Declare;
  patch: Declare;
  delete: Declare;
}

type AnyReq = Req<unknown, unknown, unknown>;

/** A request that can be sent like this, and the answer to it, for the description. Tests send and check it. */
export interface Example {
  params?: Record<string, unknown>;
  query?: Record<string, unknown>;
  body?: unknown;
  data: unknown;
  /** What stands beside the data. */
  beside?: Readonly<Record<string, unknown>>;
}

/** What the endpoints of a group have in common. */
export interface GroupOptions {
  tag: string;
  /** What the tag is about, in a sentence for customers. */
  about?: string;
  /** By operation. */
  examples?: Readonly<Record<string, Example>>;
}

/** A declared endpoint, its types forgotten. `path` is whole, below `/api`, with `:name` for parameters. */
export interface Route
  extends Omit<RouteOptions<Auth, TObject, TObject, TSchema>, 'lock' | 'guess' | 'liveWhen'> {
  method: Method;
  path: string;
  tag: string;
  /** What the tag is about. */
  about: string | undefined;
  example: Example | undefined;
  params: TObject;
  query: TObject;
  body: TSchema;
  data: TSchema | null;
  produces: string | null;
  handler: (ctx: Context, req: AnyReq) => unknown;
  lock: ((ctx: TxContext, req: AnyReq) => Promise<unknown>) | undefined;
  liveWhen: ((req: AnyReq) => boolean) | undefined;
  guess:
    | {
        limit: LimitClass;
        isMade: (req: AnyReq) => boolean;
        keys?: (ctx: Context, req: AnyReq) => Promise<GuessKeys>;
        wrong: ErrorCode;
        message: string;
      }
    | undefined;
}

export interface RouteGroup {
  prefix: string;
  tag: string;
  routes: Route[];
}

/**
 * Declares the endpoints of a room under a common path.
 *
 *     export const noteRoutes = routes('/dashboard/notes', { tag: 'Notes' }, (route) => {
 *       route.get('/:id', { auth: 'organization', operation: 'getNote', summary: 'Get note', params: IdParams,
 *         data: S.Note, errors: ['not_found'] }, (ctx, req) => readNote(ctx, req.params.id));
 *     });
 */
export function routes(
  prefix: string,
  group: GroupOptions,
  declare: (route: Declarations) => void,
): RouteGroup {
  const made: Route[] = [];
  const add =
    (method: Method): Declare =>
    (path: string, options: object, handler: unknown) => {
      made.push(
        asRoute(
          method,
          prefix + (path === '/' ? '' : path),
          group,
          options as Loose,
          handler as Route['handler'],
        ),
      );
    };
  declare({
    get: add('GET'),
    post: add('POST'),
    put: add('PUT'),
    patch: add('PATCH'),
    delete: add('DELETE'),
  });
  return { prefix, tag: group.tag, routes: made };
}

type Loose = RouteOptions<Auth, TObject, TObject, TSchema> & {
  data?: TSchema;
  produces?: string;
};

function asRoute(
  method: Method,
  path: string,
  { tag, about, examples }: GroupOptions,
  options: Loose,
  handler: Route['handler'],
): Route {
  const named = [...path.matchAll(/:(\w+)/g)].map((match) => match[1]);
  const declared = Object.keys(options.params?.properties ?? {});
  if (named.sort().join() !== declared.sort().join()) {
    throw new Error(`${method} ${path}: its path names [${named}], its params schema [${declared}]`);
  }
  const misplaced = misplacedOption(method, options);
  if (misplaced !== null) throw new Error(`${method} ${path}: ${misplaced}`);
  return {
    ...options,
    method,
    path,
    tag,
    about,
    example: examples?.[options.operation],
    params: options.params ?? Nothing,
    query: options.query ?? Nothing,
    body: options.body ?? Nothing,
    data: options.data ?? null,
    produces: options.produces ?? null,
    handler,
    lock: options.lock as Route['lock'],
    liveWhen: options.liveWhen as Route['liveWhen'],
    guess: options.guess as Route['guess'],
    ...limitFor(method, options),
  };
}

/** What customers change is limited by the hour as well, unless a class of its own says how. */
function limitFor(method: Method, { auth, limit }: Loose): { limit?: LimitClass } {
  if (limit !== undefined) return { limit };
  const isCustomers = auth === 'account' || auth === 'organization';
  return method !== 'GET' && isCustomers ? { limit: 'change' } : {};
}

/** Whether the header Idempotency-Key counts. */
export function isRepeatable(
  method: Method,
  { auth, idempotency }: { auth: Auth; idempotency?: 'off' },
): boolean {
  return method === 'POST' && auth !== 'public' && idempotency !== 'off';
}

/** An option that would be ignored, or cannot be, is a mistake in a declaration, and maybe a hole. */
function misplacedOption(method: Method, options: Loose): string | null {
  if (!/^[a-z][A-Za-z0-9]*$/.test(options.operation)) return 'operation is a name in camelCase';
  if (options.fresh && options.auth === 'public') return 'fresh is for callers that are known';
  if (options.permission !== undefined && options.auth !== 'organization') {
    return 'permission is for auth: organization';
  }
  if (options.whileBlocked !== undefined && options.auth !== 'organization')
    return 'whileBlocked is for auth: organization';
  if (options.staffRoles !== undefined && options.auth !== 'staff') return 'staffRoles is for auth: staff';
  if (options.area !== undefined && options.auth === 'public') return 'area is for callers that are known';
  if (options.area !== undefined && options.permission !== undefined) return 'a permission has its own area';
  if (options.organization !== undefined && options.auth !== 'organization') {
    return 'organization is for auth: organization';
  }
  if (options.budget !== undefined && options.auth !== 'public') return 'budget is for auth: public';
  const isPublicWrite = options.auth === 'public' && method !== 'GET';
  if (isPublicWrite && options.actor === undefined) return 'a public write says whose act it is: actor';
  if (!isPublicWrite && options.actor !== undefined) return 'actor is for public writes';
  if (bytesOf(options.body ?? Nothing)?.read === 'stream' && isRepeatable(method, options)) {
    return 'a stream cannot be held against the one before; it takes idempotency: off';
  }
  if (options.etag !== undefined && method !== 'GET') return 'etag is for GET';
  if (options.produces !== undefined && options.etag !== undefined && options.etag !== true)
    return 'bytes have no fields to leave out: etag: true';
  if (options.files !== undefined && (method !== 'POST' || bytesOf(options.body ?? Nothing) !== null))
    return 'files are for a POST with fields';
  const isChange = method === 'PATCH' || method === 'PUT' || method === 'DELETE';
  // Whatever is compared with a tag holds a connection until it ends, and a stream may take hours.
  const isStream = bytesOf(options.body ?? Nothing)?.read === 'stream';
  if (isChange && !isStream && options.lock === undefined)
    return 'it honours If-Match, so it says what to lock: lock';
  if ((!isChange || isStream) && options.lock !== undefined) return 'lock is for PATCH, PUT and DELETE';
  if (options.shownAt !== undefined && options.lock === undefined) return 'shownAt is for what has a lock';
  return null;
}

/** Every endpoint with who may call it, so that a test can prove something about each. */
export function listRoutes(groups: readonly RouteGroup[]): Route[] {
  return groups.flatMap((group) => group.routes);
}
