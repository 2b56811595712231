import { createHash, randomBytes } from 'node:crypto';
import { permissionsNow, staffNow } from '../organizations/index.ts';
import { mayAsStaff, type Permission, type Principal } from '../platform/http/index.ts';
import { type Context, type PeriodicJob, statement, type TxContext } from '../platform/index.ts';

/** What is seen: a screen (RFB) or a serial line. */
export type ConsoleKind = 'vnc' | 'serial';

const ticketMs = 30_000;
const ticketBytes = 32;

/** What a ticket opens: something of a service, or a server of the provider's for its staff. */
export interface Opens {
  kind: ConsoleKind;
  /** Null: staff's. */
  organizationId: number | null;
  /** Null: a server's of which no customer is asked. */
  serviceId: number | null;
  /** Null: a machine's. */
  serverId: number | null;
}

export interface Ticket extends Opens {
  /** By which it is told from others; it opens nothing. */
  hash: Buffer;
  userId: number;
  apiKeyId: number | null;
  sessionId: number | null;
  /** From where the ticket was asked for; who uses it may be elsewhere. */
  ip: string | null;
}

const insertTicket = statement<
  never,
  Opens & {
    hash: Buffer;
    userId: number;
    apiKeyId: number | null;
    sessionId: number | null;
    ip: string | null;
    expiresAt: Date;
  }
>(
  'consoles.insertTicket',
  `insert into console_tickets (hash, organization_id, service_id, server_id, user_id, api_key_id, session_id, ip, kind, expires_at)
   values (:hash, :organizationId::bigint, :serviceId::bigint, :serverId::bigint, :userId, :apiKeyId, :sessionId, :ip::inet, :kind, :expiresAt)`,
);
const useTicket = statement<Ticket, { hash: Buffer; now: Date }>(
  'consoles.useTicket',
  `update console_tickets set used_at = :now where hash = :hash and used_at is null and expires_at > :now
   returning hash, organization_id as "organizationId", service_id as "serviceId", server_id as "serverId", user_id as "userId",
     api_key_id as "apiKeyId", session_id as "sessionId", host(ip) as ip, kind`,
);
const dropTickets = statement<never, { before: Date }>(
  'consoles.dropTickets',
  'delete from console_tickets where expires_at < :before',
);
const dropTicketsOfService = statement<never, { serviceId: number }>(
  'consoles.dropTicketsOf',
  'delete from console_tickets where service_id = :serviceId',
);
const nextSpent = statement<{ at: Date | null }>(
  'consoles.nextSpentTicket',
  `select min(expires_at) + interval '1 minute' as at from console_tickets`,
);

/**
 * Opens the way to a console for whoever asks: a WebSocket of ours that works once and within 30 s. Nothing of what is behind it shows. Whoever calls
 * it has seen to it that they may, and records it.
 */
export async function issueTicket<Kind extends ConsoleKind>(
  tx: TxContext,
  opens: Opens & { kind: Kind },
  { sessionId }: Pick<Principal, 'sessionId'>,
): Promise<{ type: Kind; wss_url: string; expires_at: Date }> {
  const ticket = randomBytes(ticketBytes).toString('base64url');
  const expiresAt = new Date(tx.clock.now().getTime() + ticketMs);
  const { userId, apiKeyId, ip } = tx.actor;
  if (userId === null) throw new Error('only people look at consoles');
  await tx.db.run(insertTicket, {
    ...{ ...opens, hash: hashOf(ticket), userId, apiKeyId, ip, expiresAt },
    sessionId: typeof sessionId === 'number' ? sessionId : null,
  });
  const base = tx.config.publicUrl.replace(/^http/, 'ws');
  return { type: opens.kind, wss_url: `${base}/api/console/${ticket}`, expires_at: expiresAt };
}

/** Takes a ticket; null when there is none that is still good. */
export function redeemTicket(ctx: Context, ticket: string): Promise<Ticket | null> {
  return ctx.db.maybe(useTicket, { hash: hashOf(ticket), now: ctx.clock.now() });
}

/** Nobody uses a ticket to a console of this service any more. */
export async function dropTicketsOf(tx: TxContext, serviceId: number): Promise<void> {
  await tx.db.run(dropTicketsOfService, { serviceId });
}

/** Whether the key or session that a ticket was asked for with is let in and may do the same again in its organization. */
export async function openerMay(
  ctx: Context,
  { organizationId, apiKeyId, sessionId, ip }: Ticket,
  permission: Permission,
): Promise<boolean> {
  if (organizationId === null) return false;
  return (await permissionsNow(ctx, { organizationId, apiKeyId, sessionId, ip })).has(permission);
}

/** The same of staff, by its roles and, of a key, by an area that it has to reach. */
export async function openerIsStaff(
  ctx: Context,
  { apiKeyId, sessionId, ip }: Ticket,
  wanted: { staffRoles: readonly string[]; area: string },
): Promise<boolean> {
  const now = await staffNow(ctx, { organizationId: null, apiKeyId, sessionId, ip });
  return now !== null && mayAsStaff(wanted, now);
}

function hashOf(ticket: string): Buffer {
  return createHash('sha256').update(ticket).digest();
}

export const ticketPeriodicJob: PeriodicJob = {
  name: 'consoles.dropTickets',
  intervalMs: 60_000,
  due: nextSpent,
  work: (ctx) => ctx.db.run(dropTickets, { before: new Date(ctx.clock.now().getTime() - 60_000) }),
};
