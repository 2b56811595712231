import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Config } from '../../config.ts';
import type { Clock } from '../clock.ts';
import {
  type Actor,
  type Context,
  type OrganizationContext,
  type StaffContext,
  transaction,
} from '../context.ts';
import type { Database } from '../database/index.ts';
import type { Drivers } from '../drivers.ts';
import { AppError, fail } from '../errors.ts';
import { logOfRequest, type ProcessLog } from '../log.ts';
import type { Reactions } from '../reactions.ts';
import type { Seal } from '../seal.ts';
import { type Bytes, dispositionOf, isAnswer } from './answer.ts';
import { bytesOf, checkBytes, readBytes } from './bytes.ts';
import { type Admission, type Caller, requireCaller } from './caller.ts';
import { readCredential } from './credential.ts';
import { etagOf, etagWithout, matchesTag } from './etag.ts';
import { checkIdempotencyKey, once } from './idempotency.ts';
import type { Limiter } from './limits.ts';
import { type Outside, outsideOf } from './live.ts';
import { kindsOf, readParams, readQuery } from './parameters.ts';
import type { Principal, Principals } from './principal.ts';
import type { Problem } from './problem.ts';
import { compileResponseCheck, envelopeOf, type ResponseCheck } from './responses.ts';
import { isRepeatable, type Req, type Route } from './route.ts';
import type { Leave, Writers } from './turns.ts';
import { compileValidator } from './validate.ts';

/** What serving a route needs from the API as a whole. */
export interface Api {
  config: Config;
  db: Database;
  clock: Clock;
  log: ProcessLog;
  seal: Seal;
  reactions: Reactions;
  drivers: Partial<Drivers>;
  principals: Principals;
  limiter: Limiter;
  writers: Writers;
  publicOrigin: string;
  /** Ends one stream that has no end of its own; shutdown calls them all. */
  streams: Set<() => void>;
}

declare module 'fastify' {
  interface FastifyRequest {
    caller: Caller | null;
    /** The body's bytes, while somebody may want their hash. */
    rawBody: Buffer | null;
    /** Code of the error that was answered, for the access log. */
    failure: string | null;
  }
  interface FastifyContextConfig {
    check?: ResponseCheck | null;
    pattern?: string;
  }
}

type AnyReq = Req<unknown, unknown, unknown>;

/** Puts declared endpoints under `/api`. */
export function serveRoutes(app: FastifyInstance, api: Api, routes: readonly Route[]): void {
  const envelopes = new Map<Route, Schema>();
  for (const route of routes) if (route.data !== null) envelopes.set(route, { ...envelopeOf(route.data) });
  for (const route of routes) {
    const shown = route.lock === undefined ? null : readingOf(route, routes);
    const shapes = {
      own: envelopes.get(route),
      shown,
      read: shown === null ? undefined : envelopes.get(shown),
    };
    const bytes = bytesOf(route.body);
    if (bytes === null) serveRoute(app, api, route, shapes);
    else {
      app.register(async (part) => {
        readBytes(part, bytes.read);
        part.addHook('preParsing', async (request) => checkBytes(request, bytes));
        serveRoute(part, api, route, shapes);
      });
    }
  }
}

/** Shapes of whole answers: this route's, and of a change, that of the GET of its path. */
interface Envelopes {
  own: Schema | undefined;
  shown: Route | null;
  read: Schema | undefined;
}

/** What If-Match of a change speaks of: the GET of its path, which gives the tag. */
function readingOf({ method, path, auth }: Route, routes: readonly Route[]): Route {
  const found = routes.find((other) => other.method === 'GET' && other.path === path);
  if (found?.etag !== undefined && found.auth === auth && found.drivers === undefined) return found;
  throw new Error(`${method} ${path} honours If-Match: it needs a GET of its path and kind that has an etag`);
}

type Schema = Record<string, unknown>;

function serveRoute(app: FastifyInstance, api: Api, route: Route, envelopes: Envelopes): void {
  const check = api.config.checkResponses ? compileResponseCheck(route) : null;
  const outside = outsideOf(route, api.drivers);
  const read = compileReader(route, outside);
  const run = compileRun(api, route, check, envelopes);
  const url = `/api${route.path}`;
  app.route({
    method: route.method,
    url,
    exposeHeadRoute: route.method === 'GET' && route.produces !== 'text/event-stream',
    config: { check, pattern: url },
    ...(route.bodyLimit !== undefined && { bodyLimit: route.bodyLimit }),
    ...(envelopes.own && { schema: { response: { 200: envelopes.own } } }),
    onRequest: compileGate(api, route, outside),
    handler: (request, reply) => run(request, reply, read(request)),
  });
}

/** Authentication, organization and limits: all that is settled before the body is read. */
function compileGate(api: Api, route: Route, { refusal }: Outside) {
  const { auth } = route;
  const admission: Admission | null = auth === 'public' ? null : { ...route, auth };
  const names = Object.keys(route.params.properties);
  const isEmpty = (params: unknown) => names.some((name) => (params as Record<string, string>)[name] === '');
  const count = (principal: Principal | null, request: FastifyRequest, reply: FastifyReply): void => {
    const limit = api.limiter.take(principal, request.address, route.limit);
    if (limit !== null) reply.headers(limit);
  };
  const admit = (caller: Caller | null, request: FastifyRequest, reply: FastifyReply): void => {
    request.caller = caller;
    if (caller === null) count(null, request, reply);
    if (refusal !== null) throw refusal();
  };
  // Without a promise where the caller is known at once. The framework goes on when it is called, or at the promise.
  return (request: FastifyRequest, reply: FastifyReply, goOn: () => void): Promise<void> | void => {
    // The router takes a slash at the end for an empty parameter.
    if (isEmpty(request.params)) return reply.callNotFound();
    const known = (principal: Principal) => count(principal, request, reply);
    const caller =
      admission === null
        ? callerWhenGiven(api, route, request, known)
        : requireCaller(admission, request, api, known);
    if (caller instanceof Promise) return caller.then((found) => admit(found, request, reply));
    admit(caller, request, reply);
    goOn();
  };
}

/** On a public route that says something else to those it knows: the caller, when a credential was sent. */
function callerWhenGiven(
  api: Api,
  route: Route,
  request: FastifyRequest,
  known: (principal: Principal) => void,
): Promise<Caller> | null {
  if (route.caller !== 'when-given') return null;
  if (readCredential(request.method, request.headers, api.publicOrigin) === null) return null;
  const auth = request.headers['x-organization-id'] === undefined ? 'account' : 'organization';
  return withDefaultOrganization(requireCaller({ auth }, request, api, known));
}

async function withDefaultOrganization(finding: Caller | Promise<Caller>): Promise<Caller> {
  const { principal, organizationId } = await finding;
  return { principal, organizationId: organizationId ?? principal.defaultOrganizationId };
}

/** Reads params, query and body by the route's schemas; throws with everything that is wrong in any of them. */
function compileReader(route: Route, { drivers }: Outside): (request: FastifyRequest) => AnyReq {
  const paramKinds = kindsOf(route.params);
  const queryKinds = kindsOf(route.query);
  const checkParams = compileValidator('params', route.params);
  const checkQuery = compileValidator('query', route.query);
  const isJson = route.method !== 'GET' && bytesOf(route.body) === null;
  const checkBody = !isJson ? null : compileValidator('body', route.body);
  return (request) => {
    const problems: Problem[] = [];
    const params = readParams(request.params as Record<string, string>, paramKinds, problems);
    const query = readQuery(request.raw.url ?? '', queryKinds, problems);
    const body = request.body === undefined ? {} : request.body;
    if (problems.length === 0) checkParams(params, 0, problems);
    checkQuery(query, 0, problems);
    checkBody?.(body, request.rawBody?.length ?? 0, problems);
    if (problems.length > 0) throw route.onInvalid?.(problems) ?? invalid(problems);
    return {
      params,
      query,
      body,
      principal: request.caller?.principal ?? null,
      ip: request.address,
      userAgent: request.headers['user-agent'] ?? null,
      headers: request.headers,
      drivers,
    } as AnyReq;
  };
}

function invalid(problems: Problem[]) {
  return fail('invalid_request', { details: problems.map(({ field, message }) => ({ field, message })) });
}

type Run = (request: FastifyRequest, reply: FastifyReply, req: AnyReq) => Promise<unknown>;

/** The way from a parsed request to the payload: plain, guarded by If-Match, or once per Idempotency-Key. */
function compileRun(api: Api, route: Route, check: ResponseCheck | null, envelopes: Envelopes): Run {
  const repeatable = isRepeatable(route.method, route);
  const plainQuery = queryOf(envelopes.shown);
  const handle = async (ctx: Context, req: AnyReq, reply: FastifyReply): Promise<unknown> => {
    const result = await route.handler(ctx, req);
    if (route.data === null) return sendBytes(api, reply, route, result as Bytes);
    if (isAnswer(result)) reply.headers(result.headers);
    const envelope = enveloped(isAnswer(result) ? result.data : result);
    check?.success(envelope);
    return envelope;
  };
  const answer: Run = async (request, reply, req) => {
    const ctx = contextFor(api, route, request);
    if (route.etag !== undefined) return withTag(route.etag, request, reply, await handle(ctx, req, reply));
    if (repeatable && request.headers['idempotency-key'] !== undefined) {
      return answerOnce(route, ctx, request, reply, (tx) => handle(tx, req, reply));
    }
    const tags = request.headers['if-match'];
    if (route.lock !== undefined && tags !== undefined) {
      const tagOf = (tx: Context) => tagAsRead(tx, { ...req, query: { ...plainQuery } }, reply, envelopes);
      return ifMatching(route, ctx, tags, req, tagOf, (tx) => handle(tx, req, reply));
    }
    return handle(ctx, req, reply);
  };
  const guarded = route.guess === undefined ? answer : countingGuesses(api, route.guess, answer);
  return isHeavy(route) ? inTurn(api.writers, guarded) : guarded;
}

/** Counted before it is looked at, so that many at once are no more guesses than one after another. */
function countingGuesses(api: Api, guess: NonNullable<Route['guess']>, answer: Run): Run {
  return async (request, reply, req) => {
    if (!guess.isMade(req)) return answer(request, reply, req);
    const organizationId = request.caller?.organizationId ?? null;
    const takeBack = api.limiter.guess(guess.limit, request.address, organizationId, guess.message);
    let wasWrong = false;
    try {
      return await answer(request, reply, req);
    } catch (error) {
      wasWrong = error instanceof AppError && error.code === guess.wrong;
      throw error;
    } finally {
      if (!wasWrong) takeBack();
    }
  };
}

/** What may hold a connection for as long as it runs; what talks to others or reads on and on holds none meanwhile. */
function isHeavy({ method, drivers = [], body }: Route): boolean {
  return method !== 'GET' && drivers.length === 0 && bytesOf(body)?.read !== 'stream';
}

function inTurn(writers: Writers, answer: Run): Run {
  return async (request, reply, req) => {
    const { caller } = request;
    let leave: Leave | null = null;
    if (caller !== null) leave = await writers.begin(caller.principal.actor.userId, caller.organizationId);
    try {
      return await answer(request, reply, req);
    } finally {
      leave?.();
    }
  };
}

function enveloped(data: unknown): { success: true; data: unknown } {
  return { success: true, data: data === undefined ? {} : data };
}

function withTag(
  etag: NonNullable<Route['etag']>,
  request: FastifyRequest,
  reply: FastifyReply,
  envelope: unknown,
): unknown {
  const json = reply.serialize(envelope) as string;
  if (etag !== true) {
    reply.header('etag', etagWithout(etag.without, envelope));
    return sendJson(reply, json);
  }
  const tag = etagOf(json);
  reply.header('etag', tag);
  const known = request.headers['if-none-match'];
  if (known === undefined || !matchesTag(known, tag, 'weak')) return sendJson(reply, json);
  reply.code(304);
  return reply.send();
}

/** Says that a body is JSON already. */
function sendJson(reply: FastifyReply, json: string): string {
  reply.header('content-type', 'application/json; charset=utf-8');
  return json;
}

/** What a GET finds in its query when it is asked without one. */
function queryOf(shown: Route | null): object {
  const query = {};
  if (shown !== null) compileValidator('query', shown.query)(query, 0, []);
  return query;
}

/** The tag that the GET of the same path answers with now. */
async function tagAsRead(
  ctx: Context,
  req: AnyReq,
  reply: FastifyReply,
  { shown, read }: Envelopes,
): Promise<string> {
  if (shown === null || read === undefined) throw new Error('a route that locks has a GET on its path');
  const result = await shown.handler(ctx, req);
  const envelope = enveloped(isAnswer(result) ? result.data : result);
  if (shown.etag !== true && shown.etag !== undefined) return etagWithout(shown.etag.without, envelope);
  return etagOf(reply.compileSerializationSchema(read)(envelope));
}

function ifMatching(
  route: Route,
  ctx: Context,
  tags: string,
  req: AnyReq,
  tagOf: (ctx: Context) => Promise<string>,
  work: (ctx: Context) => Promise<unknown>,
): Promise<unknown> {
  return transaction(ctx, route.operation, async (tx) => {
    await route.lock?.(tx, req);
    if (!matchesTag(tags, await tagOf(tx), 'strong')) throw fail('precondition_failed');
    return work(tx);
  });
}

async function answerOnce(
  route: Route,
  ctx: Context,
  request: FastifyRequest,
  reply: FastifyReply,
  work: (ctx: Context) => Promise<unknown>,
): Promise<unknown> {
  const { caller } = request;
  if (caller === null) throw new Error('only an authenticated request is repeatable');
  const key = String(request.headers['idempotency-key']);
  checkIdempotencyKey(key);
  const [path = '', query = ''] = request.url.split('?', 2);
  const { json, replayed } = await once(
    ctx,
    {
      key,
      userId: caller.principal.actor.userId,
      path,
      query,
      body: request.rawBody,
    },
    route.operation,
    async (tx) => reply.serialize(await work(tx)) as string,
  );
  if (replayed) reply.header('idempotency-replayed', 'true');
  return sendJson(reply, json);
}

function sendBytes(api: Api, reply: FastifyReply, route: Route, bytes: Bytes): unknown {
  reply.header('content-type', bytes.type ?? route.produces);
  if (bytes.name !== undefined) reply.header('content-disposition', dispositionOf(bytes.name));
  const { body } = bytes;
  if (!Buffer.isBuffer(body) && route.produces === 'text/event-stream') {
    reply.header('x-accel-buffering', 'no'); // a proxy that collects events delays them
    const end = (): void => {
      reply.raw.end();
      body.destroy();
    };
    api.streams.add(end);
    reply.raw.once('close', () => api.streams.delete(end));
  }
  return body;
}

/** Journal's words for who is not signed in. */
const strangers = { visitor: 'user', system: 'system' } as const;

/** A context of any kind of route. All have one shape; what the route's kind has none of is null. */
type AnyContext = Context & Nullable<Pick<OrganizationContext & StaffContext, 'permissions' | 'staffRole'>>;
type Nullable<T> = { [K in keyof T]: T[K] | null };

function contextFor(api: Api, route: Route, request: FastifyRequest): AnyContext {
  const { caller } = request;
  return {
    db: api.db,
    clock: api.clock,
    log: logOfRequest(api.log, request.id),
    config: api.config,
    seal: api.seal,
    reactions: api.reactions,
    actor: actorOf(route, caller, request),
    organizationId: caller?.organizationId ?? null,
    requestId: request.id,
    permissions: route.auth === 'organization' ? (caller?.principal.permissions ?? null) : null,
    staffRole: route.auth === 'staff' ? (caller?.principal.staffRole ?? null) : null,
  };
}

function actorOf(route: Route, caller: Caller | null, request: FastifyRequest): Actor {
  if (caller === null) {
    const type = strangers[route.actor ?? 'visitor'];
    return { type, userId: null, apiKeyId: null, ip: request.address };
  }
  const { actor } = caller.principal;
  return route.auth === 'staff' ? { ...actor, type: 'staff' } : actor;
}
