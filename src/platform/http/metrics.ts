import type { FastifyInstance, FastifyRequest } from 'fastify';
import { collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { Logger } from '../log.ts';

/** Connections of the pool, for /metrics. */
export interface PoolCounts {
  total: number;
  idle: number;
  waiting: number;
}

const bucketsS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];

/** Measures every request and writes its line into the log. Names are route patterns, never what was sent. */
export function watchRequests(app: FastifyInstance, registry: Registry, log: Logger): void {
  const duration = new Histogram({
    name: 'innkeeper_http_request_duration_seconds',
    help: 'Time from the first byte of a request to the last of its answer.',
    labelNames: ['method', 'route', 'status'],
    buckets: bucketsS,
    registers: [registry],
  });
  let inFlight = 0;
  new Gauge({
    name: 'innkeeper_http_requests_in_flight',
    help: 'Requests that are not answered yet.',
    registers: [registry],
    collect() {
      this.set(inFlight);
    },
  });
  // These lines hold nothing that came from outside but an id that was checked, so redaction would only cost.
  const lines = log.child({}, { redact: [] });

  app.addHook('onRequest', (_request, _reply, done) => {
    inFlight += 1;
    done();
  });
  app.addHook('onResponse', (request, reply, done) => {
    inFlight -= 1;
    const status = reply.statusCode;
    const route = request.routeOptions.config.pattern ?? request.routeOptions.url ?? 'unknown';
    const ms = reply.elapsedTime;
    duration.observe({ method: request.method, route, status: `${Math.floor(status / 100)}xx` }, ms / 1000);
    if (lines.isLevelEnabled('info')) lines.info(lineOf(request, route, status, ms), 'request');
    done();
  });
}

function lineOf(request: FastifyRequest, route: string, status: number, ms: number): object {
  const { caller, failure } = request;
  const actor = caller?.principal.actor;
  return {
    request_id: request.id,
    method: request.method,
    route,
    status,
    ms: Math.round(ms * 100) / 100,
    ip: request.ip,
    ...(failure !== null && { code: failure }),
    ...(actor !== undefined && { user: actor.userId, key: actor.apiKeyId ?? undefined }),
    ...(caller?.organizationId && { organization: caller.organizationId }),
  };
}

/** A registry with the process' own measurements (memory, CPU, event loop lag, garbage collection) and the pool's. */
export function createRegistry(pool: (() => PoolCounts) | undefined): Registry {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
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
