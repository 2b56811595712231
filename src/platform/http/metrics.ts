import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import { lineWriter, type ProcessLog } from '../log.ts';
import { RequestDurations } from './durations.ts';
import { eventStream } from './route.ts';

/** Connections of the pool, for /metrics. */
export interface PoolCounts {
  total: number;
  idle: number;
  waiting: number;
}

/** Measures every request and writes its line into the log. Names are route patterns, never what was sent. */
export function watchRequests(app: FastifyInstance, registry: Registry, log: ProcessLog): void {
  const durations = new RequestDurations(registry);
  let inFlight = 0;
  new Gauge({
    name: 'innkeeper_http_requests_in_flight',
    help: 'Requests that are not answered yet.',
    registers: [registry],
    collect() {
      this.set(inFlight);
    },
  });
  const write = lineWriter(log);

  app.addHook('onRequest', (request, reply, done) => {
    inFlight += 1;
    // Not the framework's onResponse: it never hears of a caller who goes away before the answer.
    const startedMs = performance.now();
    reply.raw.on('close', () => finished(request, reply, performance.now() - startedMs));
    done();
  });
  const finished = (request: FastifyRequest, reply: FastifyReply, ms: number): void => {
    inFlight -= 1;
    const { config, url } = request.routeOptions;
    const route = config.pattern ?? url ?? 'unknown';
    // How long somebody listened says nothing of how fast we answer.
    if (reply.getHeader('content-type') !== eventStream)
      durations.count(request.method, route, reply.statusCode, ms / 1000);
    if (!log.isLevelEnabled('info')) return;
    write(lineOf(request, route, reply.statusCode, ms, reply.raw.writableFinished));
  };
}

/** Holds nothing that came from outside but an id of checked letters, an address and a method node:http knows. */
function lineOf(request: FastifyRequest, route: string, status: number, ms: number, isSent: boolean): string {
  const { caller, failure } = request;
  let line =
    `{"level":"info","time":"${timeText()}","request_id":"${request.id}",` +
    `"method":"${request.method}","route":"${route}","status":${status},"ms":${Math.round(ms * 100) / 100},` +
    `"ip":"${request.address}"`;
  if (!isSent) line += ',"aborted":true';
  if (failure !== null) line += `,"code":"${failure}"`;
  if (caller !== null) {
    const { userId, apiKeyId } = caller.principal.actor;
    line += `,"user":${userId}`;
    if (apiKeyId !== null) line += `,"key":${apiKeyId}`;
    if (caller.organizationId) line += `,"organization":${caller.organizationId}`;
  }
  return `${line},"msg":"request"}\n`;
}

let timeAt = 0;
let timeWritten = '';

/** The time, written out once a millisecond: a busy API logs many lines in each. */
function timeText(): string {
  const now = Date.now();
  if (now !== timeAt) [timeAt, timeWritten] = [now, new Date(now).toISOString()];
  return timeWritten;
}

/** What is running, for `innkeeper_build_info`. */
export interface BuildInfo {
  version: string;
  /** Null where it is not known. */
  commit: string | null;
  role: string;
}

/** The library's totals that are no counters: Prometheus reads a name in `_total` as one. Each has a namesake by type. */
const misnamed = [
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total',
];

/** A registry with the process' own measurements (memory, CPU, event loop lag, garbage collection) and the pool's. */
export function createRegistry(pool: (() => PoolCounts) | undefined, build?: BuildInfo): Registry {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  for (const name of misnamed) registry.removeSingleMetric(name);
  if (build !== undefined) {
    const labels = { ...build, commit: build.commit ?? 'unknown', node_version: process.versions.node };
    new Gauge({
      name: 'innkeeper_build_info',
      help: 'Always 1; the labels say what is running.',
      labelNames: Object.keys(labels),
      registers: [registry],
    }).set(labels, 1);
  }
  if (pool !== undefined) {
    new Gauge({
      name: 'innkeeper_database_connections',
      help: 'Connections of the pool by state; waiting are requests for one.',
      labelNames: ['state'],
      registers: [registry],
      collect() {
        for (const [state, count] of Object.entries(pool())) this.set({ state }, count);
      },
    });
  }
  return registry;
}
