import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Context, transaction } from '../context.ts';
import { AppError, fail } from '../errors.ts';
import { type Bytes, dispositionOf, isAnswer } from './answer.ts';
import type { Api } from './apiParts.ts';
import { bytesOf } from './bytes.ts';
import { etagOf, etagWithout, matchesTag } from './etag.ts';
import { checkIdempotencyKey, once } from './idempotency.ts';
import { networkOf } from './layers.ts';
import type { Guesser } from './limiter.ts';
import type { LimitHeaders } from './limits.ts';
import type { Principal } from './principal.ts';
import { contextFor } from './requestContext.ts';
import type { ResponseCheck } from './responses.ts';
import { isRepeatable, type Req, type Route } from './route.ts';
import { tryOut } from './tryOut.ts';
import type { Turns, Writers } from './turns.ts';
import { validatorFor } from './validate.ts';

export type AnyReq = Req<unknown, unknown, unknown>;
export type AnySchema = Record<string, unknown>;

/** Shapes of whole answers: this route's, and of a change, that of the GET of its path. */
export interface Envelopes {
  own: AnySchema | undefined;
  shown: Route | null;
  read: AnySchema | undefined;
}

/** How an endpoint answers a request that was read. */
export type Respond = (request: FastifyRequest, reply: FastifyReply, req: AnyReq) => Promise<unknown>;

/**
 * Asks again who calls, for a request that was let in a while ago; null when that was just now. Fails when whoever it was
 * would be let in no more.
 */
export type StillAdmitted = (request: FastifyRequest) => Promise<void> | null;

/** The way from a parsed request to the payload: plain, guarded by If-Match, or once per Idempotency-Key. */
export function compileRespond(
  api: Api,
  route: Route,
  check: ResponseCheck | null,
  envelopes: Envelopes,
  stillAdmitted: StillAdmitted,
): Respond {
  const repeatable = isRepeatable(route.method, route);
  const handle = async (ctx: Context, req: AnyReq, reply: FastifyReply): Promise<unknown> => {
    const result = await route.handler(ctx, req);
    if (route.data === null) return sendBytes(api, reply, route, result as Bytes);
    if (isAnswer(result)) reply.headers(result.headers);
    const envelope = isAnswer(result) ? enveloped(result.data, result.beside) : enveloped(result);
    check?.success(envelope);
    return envelope;
  };
  const answerIn = async (ctx: Context, request: FastifyRequest, reply: FastifyReply, req: AnyReq) => {
    if (route.etag !== undefined && route.data !== null)
      return withTag(route.etag, request, reply, await handle(ctx, req, reply));
    if (repeatable && request.headers['idempotency-key'] !== undefined) {
      return answerOnce(route, ctx, request, reply, (tx) => handle(tx, req, reply));
    }
    const tags = request.headers['if-match'];
    if (route.lock !== undefined && tags !== undefined) {
      const query = queryOf(envelopes.shown);
      const tagOf = (tx: Context) => tagAsRead(tx, { ...req, query }, reply, envelopes);
      return ifMatching(route, ctx, tags, req, tagOf, (tx) => handle(tx, req, reply));
    }
    return handle(ctx, req, reply);
  };
  const answerNow: Respond = (request, reply, req) => {
    const ctx = contextFor(api, route, request);
    if (!isTest(request)) return answerIn(ctx, request, reply, req);
    return tryOut(ctx, route.operation, (tx) => answerIn(tx, request, reply, req));
  };
  // Innermost: whoever waited for the body, or for their turn, waited before it.
  const answer: Respond = (request, reply, req) => {
    const asking = stillAdmitted(request);
    if (asking === null) return answerNow(request, reply, req);
    const asNow = () => ({ ...req, principal: request.caller?.principal ?? null }) as AnyReq;
    return asking.then(() => answerNow(request, reply, asNow()));
  };
  const guarded = route.guess === undefined ? answer : countingGuesses(api, route, route.guess, answer);
  // Who is not known, and may ask what a cart would cost, changes nothing by it.
  const asking = route.caller === 'when-given' ? inLine(api.readers, guarded) : guarded;
  const waiting = inTurn(api.writers, guarded, asking);
  if (isHeavy(route)) return waiting;
  const { liveWhen } = route;
  if (liveWhen !== undefined)
    return (request, reply, req) =>
      (liveWhen(req) && !isTest(request) ? guarded : waiting)(request, reply, req);
  const reading = isReading(route) ? inLine(api.readers, guarded) : guarded;
  // What is tried out holds a connection, whatever it asks for.
  return (request, reply, req) => (isTest(request) ? waiting : reading)(request, reply, req);
}

/** Whether the request came with a key for trying out. */
function isTest({ caller }: FastifyRequest): boolean {
  return caller?.principal.isTest === true;
}

function countingGuesses(
  api: Api,
  route: Route,
  guess: NonNullable<Route['guess']>,
  answer: Respond,
): Respond {
  const whose = async (req: AnyReq, request: FastifyRequest): Promise<Guesser> => {
    if (guess.keys !== undefined) {
      const { keys, byAddress } = await guess.keys(contextFor(api, route, request), req);
      return { keys, ip: byAddress ? request.address : null };
    }
    const organizationId = request.caller?.organizationId ?? null;
    return { keys: organizationId === null ? [] : [`o${organizationId}`], ip: request.address };
  };
  return async (request, reply, req) => {
    if (!guess.isMade(req)) return answer(request, reply, req);
    const settle = await api.limiter.guess(guess.limit, await whose(req, request), guess.message);
    let wasWrong = false;
    try {
      return await answer(request, reply, req);
    } catch (error) {
      wasWrong = error instanceof AppError && error.code === guess.wrong;
      throw error;
    } finally {
      tellToo(reply, await settle(wasWrong));
    }
  };
}

/** Says beside the other limits what is left of one. */
function tellToo(reply: FastifyReply, left: LimitHeaders | null): void {
  for (const [name, text] of Object.entries(left ?? {})) {
    const said = reply.getHeader(name);
    reply.header(name, said === undefined ? text : `${said}, ${text}`);
  }
}

/**
 * What may hold a connection for as long as it runs. What talks to others or reads on and on holds none meanwhile, but
 * what locks rows does, whichever drivers it asks what they can.
 */
function isHeavy({ method, drivers = [], body, lock, files }: Route): boolean {
  // Files are kept by then.
  if (lock !== undefined || files !== undefined) return true;
  return method !== 'GET' && drivers.length === 0 && bytesOf(body)?.read !== 'stream';
}

/** What asks the database alone. */
function isReading({ method, drivers = [] }: Route): boolean {
  return method === 'GET' && drivers.length === 0;
}

function inLine(readers: Turns, answer: Respond): Respond {
  return async (request, reply, req) => {
    const { caller, address } = request;
    const key = caller === null ? networkOf(address) : `u${caller.principal.actor.userId}`;
    // Nearly every read has its turn at once, without a promise.
    const leave = readers.takeNow(key) ?? (await readers.take(key));
    try {
      return await answer(request, reply, req);
    } finally {
      leave();
    }
  };
}

function inTurn(writers: Writers, answer: Respond, toStrangers: Respond): Respond {
  return async (request, reply, req) => {
    const { caller } = request;
    if (caller === null) return toStrangers(request, reply, req);
    const leave = await writers.begin(caller.principal.actor.userId, caller.organizationId);
    try {
      return await answer(request, reply, req);
    } finally {
      leave();
    }
  };
}

function enveloped(data: unknown, beside: object = {}): { success: true; data: unknown } {
  return { success: true, data: data === undefined ? {} : data, ...beside };
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
  if (shown !== null) validatorFor('query', shown.query)(query, 0, []);
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
      credential: credentialOf(caller.principal),
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

/** An API key, a session, or staff that acts as somebody. */
function credentialOf({ actor, sessionId }: Principal): string {
  return actor.apiKeyId === null ? `session ${sessionId}` : `key ${actor.apiKeyId}`;
}

/** Nothing is loaded or run, nothing frames it, and it is of no origin. */
const forStrangers = "sandbox; default-src 'none'; frame-ancestors 'none'";

function sendBytes(api: Api, reply: FastifyReply, route: Route, bytes: Bytes): unknown {
  reply.header('content-type', bytes.type ?? route.produces);
  if (bytes.name !== undefined) reply.header('content-disposition', dispositionOf(bytes.name));
  if (bytes.goTo !== undefined) reply.code(303).header('location', bytes.goTo);
  if (bytes.length !== undefined) reply.header('content-length', bytes.length);
  if (bytes.isStrangers) reply.header('content-security-policy', forStrangers);
  if (bytes.isImmutable) reply.header('cache-control', 'public, max-age=31536000, immutable');
  const { body } = bytes;
  if (route.etag === true && Buffer.isBuffer(body)) {
    const tag = etagOf(body);
    // Whoever asked may keep it, and asks each time whether it is still right.
    reply.headers({ etag: tag, 'cache-control': 'private, no-cache' });
    const known = reply.request.headers['if-none-match'];
    if (known !== undefined && matchesTag(known, tag, 'weak')) return reply.code(304).send();
  }
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
