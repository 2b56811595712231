import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { systemActor } from '../context.ts';
import { fail } from '../errors.ts';
import type { Api } from './apiParts.ts';
import { bytesOf, checkBytes, readBytes } from './bytes.ts';
import { type Admission, type Caller, type CountCaller, requireCaller, revalidate } from './caller.ts';
import { connectedAt } from './connections.ts';
import { readCredential } from './credential.ts';
import { bodyLimitOf, compileReceiving, type Receiving, readBodiesWithFiles } from './files.ts';
import { type Outside, outsideOf } from './live.ts';
import { kindsOf, readParams, readQuery } from './parameters.ts';
import type { Impersonation, Principal } from './principal.ts';
import type { Problem } from './problem.ts';
import { reachOf, stopsWhenBlocked } from './reach.ts';
import {
  type AnyReq,
  type AnySchema,
  compileRespond,
  type Envelopes,
  type StillAdmitted,
} from './respond.ts';
import { envelopeOf, type ResponseCheck, responseCheck } from './responses.ts';
import { eventStream, type OpenStream, type Route } from './route.ts';
import { validatorFor } from './validate.ts';

declare module 'fastify' {
  interface FastifyRequest {
    caller: Caller | null;
    /** When it was asked who calls, in milliseconds. */
    admittedAt: number;
    /** The body's bytes, while somebody may want their hash. */
    rawBody: Buffer | null;
    /** Code of the error that was answered, for the access log. */
    failure: string | null;
  }
  interface FastifyContextConfig {
    check?: ResponseCheck | null;
    pattern?: string;
    /** It may arrive as slowly as files do. */
    takesFiles?: boolean;
  }
}

/** Puts declared endpoints under `/api`. */
export function serveRoutes(app: FastifyInstance, api: Api, routes: readonly Route[]): void {
  const envelopes = new Map<Route, AnySchema>();
  for (const route of routes)
    if (route.data !== null) envelopes.set(route, { ...envelopeOf(route.data, route.beside) });
  for (const route of routes) {
    const shown = route.lock === undefined ? null : readingOf(route, routes);
    const shapes = {
      own: envelopes.get(route),
      shown,
      read: shown === null ? undefined : envelopes.get(shown),
    };
    const bytes = bytesOf(route.body);
    if (route.files !== undefined) {
      app.register(async (part) => {
        await readBodiesWithFiles(part);
        serveRoute(part, api, route, shapes);
      });
    } else if (bytes === null) serveRoute(app, api, route, shapes);
    else {
      app.register(async (part) => {
        readBytes(part, bytes.read);
        part.addHook('preParsing', async (request) => checkBytes(request, bytes));
        serveRoute(part, api, route, shapes);
      });
    }
  }
}

/** What If-Match of a change speaks of: the GET of its path, which gives the tag. */
function readingOf({ method, path, auth, shownAt = path }: Route, routes: readonly Route[]): Route {
  const found = routes.find((other) => other.method === 'GET' && other.path === shownAt);
  // What is asked about a person alone can also be asked for an organization.
  const isOfKind = found?.auth === auth || (found?.auth === 'account' && auth === 'organization');
  if (found?.etag !== undefined && isOfKind && found.drivers === undefined) return found;
  throw new Error(`${method} ${path} honours If-Match: it needs a GET of its path and kind that has an etag`);
}

function serveRoute(app: FastifyInstance, api: Api, route: Route, envelopes: Envelopes): void {
  const check = api.config.checkResponses ? responseCheck(route) : null;
  const outside = outsideOf(route, api.drivers);
  const read = readerFor(api, route, outside);
  const gate = compileGate(api, route, outside);
  const respond = compileRespond(api, route, check, envelopes, gate.again);
  const { files } = route;
  const receiving = files === undefined ? null : compileReceiving(api, route, outside.drivers, files);
  const bodyLimit = files === undefined ? limitOfBody(route) : bodyLimitOf(files, api.config);
  const url = `/api${route.path}`;
  app.route({
    method: route.method,
    url,
    exposeHeadRoute: route.method === 'GET' && route.produces !== eventStream,
    config: { check, pattern: url, takesFiles: files !== undefined },
    ...(bodyLimit !== undefined && { bodyLimit }),
    ...(envelopes.own && { schema: { response: { 200: envelopes.own } } }),
    onRequest: gate.enter,
    handler:
      receiving === null
        ? (request, reply) => respond(request, reply, read(request))
        : receivingFirst(receiving, (request, reply) => respond(request, reply, read(request))),
  });
}

/** What strangers send is a form or a cart. More of it costs memory and reading, and nobody knows whose it is. */
const ofStrangers = 131_072;

function limitOfBody({ auth, body, bodyLimit }: Route): number | undefined {
  if (bodyLimit !== undefined || auth !== 'public' || bytesOf(body) !== null) return bodyLimit;
  return ofStrangers;
}

/** Files are kept before anything else is done with a request, and those that were of no use taken away after it. */
function receivingFirst(
  { receive, settle }: Receiving,
  respond: (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>,
) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<unknown> => {
    try {
      await receive(request);
      return await respond(request, reply);
    } finally {
      await settle(request);
    }
  };
}

/** A body may take half a minute to arrive, and a change may wait for its turn: who was let in longer ago is asked for again. */
const admittedForMs = 1_000;

interface Gate {
  /** Authentication, organization and limits: all that is settled before the body is read. */
  enter(request: FastifyRequest, reply: FastifyReply, goOn: () => void): Promise<void> | void;
  again: StillAdmitted;
}

function compileGate(api: Api, route: Route, outside: Outside): Gate {
  const { auth } = route;
  const admission: Admission | null =
    auth === 'public'
      ? null
      : { ...route, auth, reach: reachOf(route), stopsWhenBlocked: stopsWhenBlocked(route) };
  const names = Object.keys(route.params.properties);
  const isEmpty = (params: unknown) => names.some((name) => (params as Record<string, string>)[name] === '');
  const count = (
    principal: Principal | null,
    organizationId: number | null,
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<void> | void => {
    if (principal?.impersonation !== undefined)
      reply.header('x-impersonation', markOf(principal.impersonation));
    const budget = principal === null ? (route.budget?.(request.headers, api.seal) ?? null) : null;
    const asker = { principal, organizationId, ip: request.address, budget };
    const limit = api.limiter.take(asker, route.limit);
    if (limit instanceof Promise) return limit.then((headers) => void reply.headers(headers));
    if (limit !== null) reply.headers(limit);
  };
  const admit = (caller: Caller | null, request: FastifyRequest, reply: FastifyReply): void => {
    request.caller = caller;
    if (caller?.principal.isTest) reply.header('test-key', 'true');
    const { refusal } = outside;
    if (refusal !== null && route.liveWhen === undefined) throw refusal();
  };
  const find = (request: FastifyRequest, known: CountCaller) =>
    admission === null
      ? callerWhenGiven(api, route, request, known)
      : requireCaller(admission, request, api, known);
  const findAgain = async (request: FastifyRequest): Promise<void> => {
    request.caller = await find(request, () => undefined);
  };
  // Without a promise where the caller is known at once. The framework goes on when it is called, or at the promise.
  const enter: Gate['enter'] = (request, reply, goOn) => {
    // The router takes a slash at the end for an empty parameter.
    if (isEmpty(request.params)) return reply.callNotFound();
    request.admittedAt = api.clock.now().getTime();
    const caller = find(request, (principal, organizationId) =>
      count(principal, organizationId, request, reply),
    );
    if (caller instanceof Promise) return caller.then((found) => admit(found, request, reply));
    const counted = caller === null ? count(null, null, request, reply) : undefined;
    if (counted instanceof Promise) return counted.then(() => admit(null, request, reply));
    admit(caller, request, reply);
    goOn();
  };
  const again: StillAdmitted = (request) => {
    if (request.caller === null) return null;
    const age = api.clock.now().getTime() - request.admittedAt;
    return age >= 0 && age < admittedForMs ? null : findAgain(request);
  };
  return { enter, again };
}

/** Says on every answer that staff acted, as whom the credential tells. */
function markOf({ staffId, readOnly, until }: Impersonation): string {
  return `staff=${staffId}; until=${until.toISOString()}; ${readOnly ? 'read-only' : 'may-change'}`;
}

/** On a public route that says something else to those it knows: the caller, when a credential was sent. */
function callerWhenGiven(
  api: Api,
  route: Route,
  request: FastifyRequest,
  known: CountCaller,
): Promise<Caller> | null {
  if (route.caller !== 'when-given') return null;
  if (readCredential(request.method, request.headers, api.publicOrigin) === null) return null;
  const auth = request.headers['x-organization-id'] === undefined ? 'account' : 'organization';
  return withDefaultOrganization(requireCaller({ auth, reach: 'read' }, request, api, known));
}

async function withDefaultOrganization(finding: Caller | Promise<Caller>): Promise<Caller> {
  const { principal, organizationId } = await finding;
  return { principal, organizationId: organizationId ?? principal.defaultOrganizationId };
}

/** Reads params, query and body by the route's schemas; throws with everything that is wrong in any of them. */
function readerFor(api: Api, route: Route, outside: Outside): (request: FastifyRequest) => AnyReq {
  const paramKinds = kindsOf(route.params);
  const queryKinds = kindsOf(route.query);
  const checkParams = validatorFor('params', route.params);
  const checkQuery = validatorFor('query', route.query);
  const isJson = route.method !== 'GET' && bytesOf(route.body) === null;
  const checkBody = !isJson ? null : validatorFor('body', route.body);
  return (request) => {
    const problems: Problem[] = [];
    const params = readParams(request.params as Record<string, string>, paramKinds, problems);
    const query = readQuery(request.raw.url ?? '', queryKinds, problems);
    const body = request.body === undefined ? {} : request.body;
    if (problems.length === 0) checkParams(params, 0, problems);
    checkQuery(query, 0, problems);
    checkBody?.(body, request.rawBody?.length ?? 0, problems);
    if (problems.length > 0) throw route.onInvalid?.(problems) ?? invalid(problems);
    const req = {
      params,
      query,
      body,
      principal: request.caller?.principal ?? null,
      ip: request.address,
      userAgent: request.headers['user-agent'] ?? null,
      connectedAt: connectedAt(request, api.clock),
      headers: request.headers,
      drivers: outside.drivers,
      files: request.received ?? [],
      stream: route.produces === eventStream ? openStream(api, route, request) : null,
    } as AnyReq;
    const { refusal } = outside;
    if (refusal !== null && route.liveWhen?.(req) === true) throw refusal();
    return req;
  };
}

function openStream(api: Api, route: Route, request: FastifyRequest): OpenStream {
  const { config, db, clock, log, seal, reactions } = api;
  const nobody = { actor: systemActor, organizationId: null, requestId: null };
  const ctx = { config, db, clock, log, seal, reactions, ...nobody };
  const { auth } = route;
  const { method, url, headers, address, caller } = request;
  const asking = { method, url, headers, address };
  const anew = async () => {
    if (auth === 'public') throw new Error('nobody is known on a public route');
    return revalidate({ ...route, auth, reach: reachOf(route) }, asking, caller?.organizationId ?? null, api);
  };
  return { ctx, drivers: api.drivers, revalidate: anew };
}

function invalid(problems: Problem[]) {
  return fail('invalid_request', { details: problems.map(({ field, message }) => ({ field, message })) });
}
