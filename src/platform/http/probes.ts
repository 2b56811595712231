import { BlockList, isIPv6 } from 'node:net';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Registry } from 'prom-client';
import type { Database } from '../database/index.ts';
import { fail } from '../errors.ts';
import { peerOf } from './address.ts';
import type { Checked } from './checks.ts';

const readyWithinMs = 1_500;

/**
 * For whoever runs the product: `/livez` (the process answers), `/readyz` (it can serve, 503 within two seconds
 * of losing the database) and `/metrics` (Prometheus). Loopback and the addresses that are allowed may read metrics, and
 * in `/readyz` what else is out of order.
 */
export function serveProbes(
  app: FastifyInstance,
  options: {
    db: Database;
    ready: () => Promise<void>;
    isDraining: () => boolean;
    registry: Registry;
    /** What this process says of the whole house besides, in Prometheus' text; null when others say it. */
    house: (() => Promise<string>) | null;
    checks: () => Promise<Checked[]>;
    metricsAllow: string[];
  },
): void {
  const allowed = addressList(['127.0.0.0/8', '::1', ...options.metricsAllow]);
  app.get('/livez', () => ({ success: true, data: { alive: true } }));

  app.get('/readyz', async (request) => {
    if (options.isDraining()) throw fail('unavailable', { message: 'Shutting down', retryAfterS: 5 });
    await Promise.all([options.db.ping(readyWithinMs), within(readyWithinMs, options.ready())]).catch(
      (cause: unknown) => {
        throw fail('unavailable', { cause, retryAfterS: 2 });
      },
    );
    // What else is out of order is no stranger's business, and no reason to send requests elsewhere: see decision 0043.
    const details = isAllowed(request, allowed) ? { checks: await options.checks() } : {};
    return { success: true, data: { ready: true, ...details } };
  });

  app.get('/metrics', async (request, reply) => {
    if (!isAllowed(request, allowed)) throw fail('forbidden');
    const house = (await options.house?.()) ?? '';
    reply.header('content-type', options.registry.contentType);
    return (await options.registry.metrics()) + house;
  });
}

async function within(ms: number, work: Promise<void>): Promise<void> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error(`not ready within ${ms} ms`)), ms);
  await Promise.race([work, late.promise]).finally(() => clearTimeout(timer));
}

function addressList(entries: string[]): BlockList {
  const list = new BlockList();
  for (const entry of entries) {
    const [address = '', prefix] = entry.split('/');
    const family = isIPv6(address) ? 'ipv6' : 'ipv4';
    if (prefix === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(prefix), family);
  }
  return list;
}

function isAllowed(request: FastifyRequest, list: BlockList): boolean {
  // Somebody forwards, and nobody told us to trust it: its own address says nothing about the caller.
  const isForwarded = request.headers['x-forwarded-for'] ?? request.headers.forwarded;
  if (isForwarded !== undefined && request.address === peerOf(request)) return false;
  return list.check(request.address, isIPv6(request.address) ? 'ipv6' : 'ipv4');
}
