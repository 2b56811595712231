import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { Registry } from 'prom-client';
import type { Config } from '../../config.ts';
import type { HealthCheck } from '../attention.ts';
import type { Clock } from '../clock.ts';
import { type Context, systemActor } from '../context.ts';
import type { Database } from '../database/index.ts';
import type { Drivers } from '../drivers.ts';
import { type AppError, type ErrorCode, type ErrorDetail, fail } from '../errors.ts';
import type { ProcessLog } from '../log.ts';
import type { MeasureSource } from '../measures.ts';
import type { Reactions } from '../reactions.ts';
import type { Seal } from '../seal.ts';
import { addressOf } from './address.ts';
import type { Api } from './apiParts.ts';
import { rememberChecks } from './checks.ts';
import { compressAnswers } from './compress.ts';
import { noteConnections } from './connections.ts';
import { asAppError, errorBody, isRefusedValue } from './failures.ts';
import { type SecurityHeaders, securityHeaders } from './headers.ts';
import { whyForbidden } from './hints.ts';
import { measureHouse } from './houseMetrics.ts';
import { readJson } from './json.ts';
import { createLimiter } from './limiter.ts';
import { limitHeadersOf } from './limits.ts';
import { createRegistry, type PoolCounts, watchRequests } from './metrics.ts';
import { type ApiInfo, type Described, describeApi } from './openapi.ts';
import { type Authenticate, rememberPrincipals } from './principal.ts';
import { serveProbes } from './probes.ts';
import { referenceFiles } from './reference.ts';
import { requestIdOf } from './requestId.ts';
import { listRoutes, type RouteGroup } from './route.ts';
import { serializerFor } from './serializers.ts';
import { serveRoutes } from './serve.ts';
import { openSharedCounts, watchSharedCounts } from './sharedCounts.ts';
import { homeServer, type Site } from './site.ts';
import { createReaders, createWriters } from './turns.ts';
import { serveUnanswered } from './unanswered.ts';
import { serveFiles } from './webFiles.ts';

export interface ApiOptions {
  config: Config;
  db: Database;
  clock: Clock;
  log: ProcessLog;
  seal: Seal;
  reactions: Reactions;
  /** What this process has of the outside world, for the routes that ask for it. */
  drivers: Partial<Drivers>;
  authenticate: Authenticate;
  routes: readonly RouteGroup[];
  /** Resolves when everything besides the database is ready to serve; rejects otherwise. */
  ready: () => Promise<void>;
  /** What else may be out of order; none of it makes the process unready. */
  checks?: readonly HealthCheck[];
  /** What is counted of the whole house for `/metrics`. */
  measures?: readonly MeasureSource[];
  info: ApiInfo;
  /** What the product sends by itself, for the description. */
  sends?: readonly Described[];
  /** What browsers get beside the API; without one they find the reference at `/`. */
  site?: Site;
  /** Registry that others measure into as well; one of its own when absent. */
  registry?: Registry;
  pool?: () => PoolCounts;
  /** How addresses are read that clients write otherwise than we describe them; each as it is when absent. */
  readAddress?: (method: string, url: string) => string;
  /** How long a request may take to arrive, its body included; 30 seconds when absent. */
  requestTimeoutMs?: number;
}

const bodyLimit = 1_048_576;
const jsonType = 'application/json; charset=utf-8';

/** Builds the API; `listen` is up to the caller. */
export async function createApi(options: ApiOptions): Promise<FastifyInstance> {
  const { config, db, clock, log, requestTimeoutMs = 30_000 } = options;
  const failing: Failing = { log, headers: securityHeaders(config.publicUrl) };
  const app = Fastify({
    logger: false,
    rewriteUrl: ({ method = '', url = '' }) => options.readAddress?.(method, url) ?? url,
    genReqId: (raw: IncomingMessage) => requestIdOf(raw),
    requestIdHeader: false,
    trustProxy: config.trustedProxies.length > 0 ? config.trustedProxies : false,
    bodyLimit,
    return503OnClosing: false,
    // Node takes the shorter of its two times for the headers and the longer for the whole. What brings no files has the shorter
    // for all of it, see `hurry`.
    requestTimeout: requestTimeoutMs * timesLongerWithFiles,
    http: { headersTimeout: requestTimeoutMs, connectionsCheckingInterval: requestTimeoutMs / 6 },
    keepAliveTimeout: 65_000,
    frameworkErrors: (error, request, reply) => sendFailure(error, request, reply, failing),
    clientErrorHandler: answerBrokenRequest,
    routerOptions: { maxParamLength: 300, querystringParser: () => noQuery },
  });
  noteConnections(app.server, clock);
  const shared =
    config.rateLimits && config.valkeyUrl !== null ? await openSharedCounts(config.valkeyUrl, log) : null;
  app.addHook('onClose', async () => shared?.close());
  const api: Api = {
    config,
    db,
    clock,
    log,
    seal: options.seal,
    reactions: options.reactions,
    drivers: options.drivers,
    principals: rememberPrincipals(options.authenticate, clock),
    limiter: createLimiter(config.rateLimits, shared),
    writers: createWriters(config.databasePoolSize),
    readers: createReaders(config.databasePoolSize),
    publicOrigin: new URL(config.publicUrl).origin,
    streams: new Set(),
  };
  let isDraining = false;

  app.decorateRequest('address', '');
  app.decorateRequest('caller', null);
  app.decorateRequest('admittedAt', 0);
  app.decorateRequest('rawBody', null);
  app.decorateRequest('received', null);
  app.decorateRequest('failure', null);
  app.addHook('onRequest', (request, reply, done) => {
    request.address = addressOf(request);
    reply.headers(failing.headers).header('x-request-id', request.id);
    if (!request.routeOptions.config?.takesFiles) hurry(request, requestTimeoutMs);
    done();
  });
  app.addHook('preClose', (done) => {
    isDraining = true;
    for (const end of api.streams) end();
    done();
  });
  compressAnswers(app);
  readBodies(app);
  app.setSerializerCompiler(serializerFor);
  app.setErrorHandler((thrown, request, reply) => sendFailure(thrown, request, reply, failing));

  const registry = options.registry ?? createRegistry(options.pool);
  const { measures = [], seal, reactions } = options;
  const nobody = { actor: systemActor, organizationId: null, requestId: null };
  const ctx: Context = { config, db, clock, log, seal, reactions, ...nobody };
  watchRequests(app, registry, log);
  const sharing = shared === null ? [] : [watchSharedCounts(shared, registry)];
  serveProbes(app, {
    db,
    ready: options.ready,
    isDraining: () => isDraining,
    checks: rememberChecks(ctx, [...(options.checks ?? []), ...sharing]),
    house: measures.length === 0 ? null : measureHouse(ctx, measures),
    registry,
    metricsAllow: config.metricsAllow,
  });
  const routes = listRoutes(options.routes);
  const { site } = options;
  const home = site === undefined ? null : homeServer(app, site);
  serveUnanswered(app, routes, home);
  serveRoutes(app, api, routes);
  const describe = () => describeApi(routes, options.info, options.sends);
  serveFiles(app, referenceFiles(describe, options.info.title));
  if (site !== undefined) serveFiles(app, site.files);
  // Whoever opens the address in a browser finds the site, or the reference. The start prints it with /api.
  const toReference = (_request: FastifyRequest, reply: FastifyReply) => reply.redirect('/api/docs');
  app.get('/api', toReference);
  app.get('/', home ?? toReference);
  return app;
}

/** A hundred megabytes come in ten minutes over a line that carries 1.4 Mbit/s. */
const timesLongerWithFiles = 20;

/** A body has to be there in time. */
function hurry({ raw, headers }: FastifyRequest, withinMs: number): void {
  if (headers['transfer-encoding'] === undefined && (headers['content-length'] ?? '0') === '0') return;
  const tooLate = setTimeout(() => {
    if (raw.complete) return;
    answerBrokenRequest(
      Object.assign(new Error('too late'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' }),
      raw.socket,
    );
  }, withinMs);
  raw.once('end', () => clearTimeout(tooLate)).once('close', () => clearTimeout(tooLate));
}

const noQuery = Object.freeze({});

/** One kind of body: JSON in UTF-8. Fastify's own readers are too kind. */
function readBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser<Buffer>(
    'application/json',
    { parseAs: 'buffer' },
    (request: FastifyRequest, bytes: Buffer, done: (error: Error | null, body?: unknown) => void) => {
      try {
        done(null, readBody(request, bytes));
      } catch (error) {
        done(error as Error);
      }
    },
  );
}

function readBody(request: FastifyRequest, bytes: Buffer): unknown {
  const { 'content-type': type, 'content-encoding': encoding } = request.headers;
  if (type !== 'application/json' && !/^application\/json *(; *charset="?utf-8"? *)?;?$/i.test(type ?? '')) {
    throw fail('unsupported_media_type', { message: 'JSON is read in UTF-8 only' });
  }
  if (encoding !== undefined && encoding !== 'identity') {
    throw fail('unsupported_media_type', { message: 'Bodies are read without Content-Encoding' });
  }
  request.rawBody = bytes;
  return bytes.length === 0 ? undefined : readJson(bytes);
}

interface Failing {
  log: ProcessLog;
  headers: SecurityHeaders;
}

/** The one place where an error becomes an answer. */
function sendFailure(
  thrown: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  failing: Failing,
): FastifyReply {
  const error = checkDeclared(asAppError(thrown, request.routeOptions.bodyLimit), request);
  request.failure = error.code;
  const about = { request_id: request.id, code: error.code, err: error.cause ?? error };
  if (error.status >= 500) failing.log.error(about, 'a request failed');
  else if (isRefusedValue(error.cause))
    failing.log.warn(about, 'a check of ours let pass what the database refused');
  const limit = limitHeadersOf.get(error);
  if (limit !== undefined) reply.headers(limit);
  if (error.retryAfterS !== undefined) reply.header('retry-after', String(error.retryAfterS));
  if (error.endsConnection) reply.header('connection', 'close');
  return reply
    .headers(failing.headers)
    .headers({ 'x-request-id': request.id, 'content-type': jsonType })
    .code(error.status)
    .send(JSON.stringify(errorBody(error, request.id, detailsOf(error, request))));
}

function detailsOf(error: AppError, request: FastifyRequest): ErrorDetail[] | undefined {
  if (error.details !== undefined || error.code !== 'forbidden') return error.details;
  return whyForbidden(request.params);
}

function checkDeclared(error: AppError, request: FastifyRequest): AppError {
  if (error.code === 'route_not_found') return error; // of no route
  try {
    request.routeOptions.config?.check?.failure(error.code);
    return error;
  } catch (mismatch) {
    return fail('internal_error', { cause: new Error((mismatch as Error).message, { cause: error }) });
  }
}

const lingerMs = 1_000;

const brokenRequests: Record<string, ErrorCode> = {
  HPE_HEADER_OVERFLOW: 'headers_too_large',
  ERR_HTTP_REQUEST_TIMEOUT: 'request_timeout',
};

/** Answers what is not even HTTP, as far as the connection still takes an answer. */
function answerBrokenRequest(broken: Error & { code?: string }, socket: Socket): void {
  if (!socket.writable || broken.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const error = fail(brokenRequests[broken.code ?? ''] ?? 'malformed_request');
  const body = JSON.stringify(errorBody(error, requestIdOf({ headers: {} } as IncomingMessage)));
  socket.end(
    `HTTP/1.1 ${error.status} ${errorBody(error, '').error}\r\nContent-Type: ${jsonType}\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\nX-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n${body}`,
  );
  // Who goes on sending hears the answer, but is not listened to for ever.
  setTimeout(() => socket.destroy(), lingerMs).unref();
}

/**
 * Stops taking connections and waits for the requests under way, `graceMs` at most; streams of events are cut at
 * once. Resolves when nothing is left.
 */
export async function closeApi(app: FastifyInstance, graceMs = 10_000): Promise<void> {
  const server: Server<typeof IncomingMessage, typeof ServerResponse> = app.server;
  // A connection that was busy when closing began is idle a moment later, and would keep us waiting.
  const idle = setInterval(() => server.closeIdleConnections(), 50);
  const late = setTimeout(() => server.closeAllConnections(), graceMs);
  try {
    await app.close();
  } finally {
    clearInterval(idle);
    clearTimeout(late);
  }
}
