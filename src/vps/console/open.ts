import { createHash, randomBytes } from 'node:crypto';
import { HypervisorError, type HypervisorOf } from '../../drivers/hypervisor/index.ts';
import { record } from '../../events/index.ts';
import { permissionsNow } from '../../organizations/index.ts';
import type { Principal } from '../../platform/http/index.ts';
import {
  type Context,
  fail,
  type OrganizationContext,
  type PeriodicJob,
  statement,
  transaction,
} from '../../platform/index.ts';
import { requireCapability } from '../capabilities.ts';
import { consoleOpened } from '../events.ts';
import { requireVps, stateOf, type VpsRow } from '../queries.ts';
import { requireJoinable } from './lines/reach.ts';

export type ConsoleKind = 'vnc' | 'serial';

/** What the route wants of whoever opens a console; keeping it open takes the same. */
const permission = 'vps.manage';

const ticketMs = 30_000;
const ticketBytes = 32;

const insertTicket = statement<
  never,
  {
    hash: Buffer;
    organizationId: number;
    serviceId: number;
    userId: number;
    apiKeyId: number | null;
    sessionId: number | null;
    ip: string | null;
    kind: 'vnc' | 'serial';
    expiresAt: Date;
  }
>(
  'vps.insertTicket',
  `insert into console_tickets (hash, organization_id, service_id, user_id, api_key_id, session_id, ip, kind, expires_at)
   values (:hash, :organizationId, :serviceId, :userId, :apiKeyId, :sessionId, :ip::inet, :kind, :expiresAt)`,
);

export interface Ticket {
  organization_id: number;
  service_id: number;
  api_key_id: number | null;
  session_id: number | null;
  /** From where the ticket was asked for; who uses it may be elsewhere. */
  ip: string | null;
  kind: ConsoleKind;
  node_id: number;
  incarnation: number;
  /** Null: its node is a host of ours. */
  cluster_id: number | null;
}

const useTicket = statement<Ticket, { hash: Buffer; now: Date }>(
  'vps.useTicket',
  `update console_tickets t set used_at = :now from machines m, services s
   where t.hash = :hash and t.used_at is null and t.expires_at > :now and m.service_id = t.service_id
     and s.id = t.service_id and s.status = 'active'
   returning t.organization_id, t.service_id, t.api_key_id, t.session_id, host(t.ip) as ip, t.kind,
     m.node_id, m.incarnation, (select n.cluster_id from nodes n where n.id = m.node_id) as cluster_id`,
);

const dropTickets = statement<never, { before: Date }>(
  'vps.dropTickets',
  'delete from console_tickets where expires_at < :before',
);

const nextSpent = statement<{ at: Date | null }>(
  'vps.nextSpentTicket',
  `select min(expires_at) + interval '1 minute' as at from console_tickets`,
);

// What must still hold of the machine while a console is open; whoever opened it is asked about beside it.
const stillThere = statement<{ id: number }, { organizationId: number; serviceId: number }>(
  'vps.consoleStillThere',
  `select s.id from services s join machines v on v.service_id = s.id
   where s.id = :serviceId and s.organization_id = :organizationId and s.status = 'active'`,
);

/**
 * Opens the way to a machine's screen or serial line: a WebSocket of ours that works once and within 30 s. The
 * hypervisor's address never shows.
 */
export async function openConsole(
  ctx: OrganizationContext,
  id: number,
  kind: ConsoleKind,
  { sessionId }: Pick<Principal, 'sessionId'>,
  hypervisorOf: HypervisorOf,
) {
  await requireVps(ctx, id);
  // Outside of the transaction: it may ask another process.
  if (kind === 'serial') await requireJoinable(ctx, id);
  return transaction(ctx, 'vps.openConsole', async (tx) => {
    const vps = await requireVps(tx, id);
    requireCapability(vps, kind);
    requireShown(vps, 'a console needs');
    requireReach(vps, hypervisorOf);
    const ticket = randomBytes(ticketBytes).toString('base64url');
    const expiresAt = new Date(tx.clock.now().getTime() + ticketMs);
    const { userId, apiKeyId, ip } = ctx.actor;
    await tx.db.run(insertTicket, {
      hash: hashOf(ticket),
      organizationId: vps.organization_id,
      serviceId: id,
      userId,
      apiKeyId,
      sessionId: typeof sessionId === 'number' ? sessionId : null,
      ip,
      kind,
      expiresAt,
    });
    await record(tx, consoleOpened, { subject: { type: 'service', id }, data: { kind } });
    const base = tx.config.publicUrl.replace(/^http/, 'ws');
    return { type: kind, wss_url: `${base}/api/console/${ticket}`, expires_at: expiresAt };
  });
}

/** Refuses a console that this process could not carry, before a ticket is given: `driver_absent`. */
function requireReach({ node_id: nodeId }: VpsRow, hypervisorOf: HypervisorOf): void {
  try {
    hypervisorOf(nodeId ?? 0);
  } catch (error) {
    if (!(error instanceof HypervisorError)) throw error;
    const message =
      'The process that answers here does not reach the host of this machine; send this request to one that does';
    throw fail('driver_absent', { message, cause: error });
  }
}

/** Refuses a machine of which nothing can be seen, since it is not running: `action_not_allowed`. `what` is what needs it. */
export function requireShown(vps: VpsRow, what: string): void {
  const { service_status: status, state, silent_since: silentSince } = vps;
  if (silentSince !== null) {
    const message = `The host of this machine has not answered since ${silentSince.toISOString()}; the machine may run on. Try again shortly`;
    throw fail('action_not_allowed', { message });
  }
  if (status === 'active' && (state === 'running' || state === 'restarting')) return;
  const how = status === 'active' ? `machine is ${stateOf(vps)}` : `service is ${status}`;
  throw fail('action_not_allowed', { message: `The ${how}; ${what} a running machine` });
}

/** Takes a ticket; null when there is none that is still good, or whoever asked for it may no longer. */
export async function redeemTicket(ctx: Context, ticket: string): Promise<Ticket | null> {
  const found = await ctx.db.maybe(useTicket, { hash: hashOf(ticket), now: ctx.clock.now() });
  return found !== null && (await mayStayOpen(ctx, found)) ? found : null;
}

/**
 * Whether a console may go on: its machine is there, and the key or session it was opened with is let in and may do the
 * same again.
 */
export async function mayStayOpen(ctx: Context, ticket: Ticket): Promise<boolean> {
  const { organization_id: organizationId, service_id: serviceId, ip } = ticket;
  if ((await ctx.db.maybe(stillThere, { organizationId, serviceId })) === null) return false;
  const opener = { organizationId, apiKeyId: ticket.api_key_id, sessionId: ticket.session_id, ip };
  return (await permissionsNow(ctx, opener)).has(permission);
}

function hashOf(ticket: string): Buffer {
  return createHash('sha256').update(ticket).digest();
}

export const ticketPeriodicJob: PeriodicJob = {
  name: 'vps.dropTickets',
  intervalMs: 60_000,
  due: nextSpent,
  work: (ctx) => ctx.db.run(dropTickets, { before: new Date(ctx.clock.now().getTime() - 60_000) }),
};
