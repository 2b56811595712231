import Fastify, { type FastifyInstance } from 'fastify';
import type { Registry } from 'prom-client';
import type { HealthCheck } from '../attention.ts';
import type { Context } from '../context.ts';
import type { Database } from '../database/index.ts';
import { fail } from '../errors.ts';
import { addressOf } from './address.ts';
import { rememberChecks } from './checks.ts';
import { asAppError, errorBody } from './failures.ts';
import { serveProbes } from './probes.ts';

export interface ProbeOptions {
  ctx: Context & { db: Database };
  ready: () => Promise<void>;
  checks: readonly HealthCheck[];
  registry: Registry;
}

/** What a process without an API answers to whoever runs it: `/livez`, `/readyz`, `/metrics` and nothing else. */
export function createProbeServer({ ctx, ready, checks, registry }: ProbeOptions): FastifyInstance {
  const { config, db, log } = ctx;
  const app = Fastify({ logger: false, bodyLimit: 1, requestTimeout: 10_000 });
  let isDraining = false;
  app.decorateRequest('address', '');
  app.addHook('onRequest', (request, _reply, done) => {
    request.address = addressOf(request);
    done();
  });
  app.addHook('preClose', (done) => {
    isDraining = true;
    done();
  });
  app.setNotFoundHandler(() => {
    throw fail('route_not_found', { message: 'A worker answers /livez, /readyz and /metrics' });
  });
  app.setErrorHandler((thrown, request, reply) => {
    const error = asAppError(thrown, 1);
    if (error.code === 'internal_error')
      log.error({ code: error.code, err: error.cause ?? error }, 'a probe failed');
    if (error.retryAfterS !== undefined) reply.header('retry-after', String(error.retryAfterS));
    return reply.code(error.status).send(errorBody(error, request.id));
  });
  serveProbes(app, {
    db,
    ready,
    isDraining: () => isDraining,
    checks: rememberChecks(ctx, checks),
    registry,
    house: null,
    metricsAllow: config.metricsAllow,
  });
  return app;
}
