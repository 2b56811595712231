import { createHash, randomBytes } from 'node:crypto';
import { isForOrganization, type KeyLimits, limitsOfKey } from '../../account/index.ts';
import { record } from '../../events/index.ts';
import { permissionsOf, type Role } from '../../organizations/index.ts';
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
import { requireVps } from '../queries.ts';

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
    kind: 'vnc' | 'serial';
    expiresAt: Date;
  }
>(
  'vps.insertTicket',
  `insert into console_tickets (hash, organization_id, service_id, user_id, api_key_id, kind, expires_at)
   values (:hash, :organizationId, :serviceId, :userId, :apiKeyId, :kind, :expiresAt)`,
);

export interface Ticket {
  organization_id: number;
  service_id: number;
  user_id: number;
  api_key_id: number | null;
  kind: ConsoleKind;
  node_id: number;
}

const useTicket = statement<Ticket, { hash: Buffer; now: Date }>(
  'vps.useTicket',
  `update console_tickets t set used_at = :now from machines m, services s
   where t.hash = :hash and t.used_at is null and t.expires_at > :now and m.service_id = t.service_id
     and s.id = t.service_id and s.status = 'active'
   returning t.organization_id, t.service_id, t.user_id, t.api_key_id, t.kind, m.node_id`,
);

const dropTickets = statement<never, { before: Date }>(
  'vps.dropTickets',
  'delete from console_tickets where expires_at < :before',
);

// What must still hold while a console is open: account, key, membership and its role, and the machine itself.
const stillAllowed = statement<
  { role: Role; limits: KeyLimits | null },
  { organizationId: number; userId: number; serviceId: number; apiKeyId: number | null; now: Date }
>(
  'vps.consoleStillAllowed',
  `select m.role, case when k.id is not null then ${limitsOfKey} end as limits
   from memberships m left join api_keys k on k.id = :apiKeyId
   join users u on u.id = m.user_id and u.status = 'active'
   join services s on s.organization_id = m.organization_id and s.id = :serviceId and s.status = 'active'
   join machines v on v.service_id = s.id
   where m.organization_id = :organizationId and m.user_id = :userId and ${isForOrganization('m')}
     and (:apiKeyId::bigint is null
       or k.id is not null and k.revoked_at is null and (k.expires_at is null or k.expires_at > :now))`,
);

/**
 * Opens the way to a machine's screen or serial line: a WebSocket of ours that works once and within 30 s. The
 * hypervisor's address never shows.
 */
export async function openConsole(ctx: OrganizationContext, id: number, kind: ConsoleKind) {
  return transaction(ctx, 'vps.openConsole', async (tx) => {
    const vps = await requireVps(tx, id);
    requireCapability(vps, kind);
    if (vps.service_status !== 'active' || (vps.state !== 'running' && vps.state !== 'restarting')) {
      const state =
        vps.service_status === 'active' ? `machine is ${vps.state}` : `service is ${vps.service_status}`;
      throw fail('action_not_allowed', { message: `The ${state}; a console needs a running machine` });
    }
    const ticket = randomBytes(ticketBytes).toString('base64url');
    const expiresAt = new Date(tx.clock.now().getTime() + ticketMs);
    const { userId, apiKeyId } = ctx.actor;
    await tx.db.run(insertTicket, {
      hash: hashOf(ticket),
      organizationId: vps.organization_id,
      serviceId: id,
      userId,
      apiKeyId,
      kind,
      expiresAt,
    });
    await record(tx, consoleOpened, { subject: { type: 'service', id }, data: { kind } });
    const base = tx.config.publicUrl.replace(/^http/, 'ws');
    return { type: kind, wss_url: `${base}/api/console/${ticket}`, expires_at: expiresAt };
  });
}

/** Takes a ticket; null when there is none that is still good. */
export function redeemTicket(ctx: Context, ticket: string): Promise<Ticket | null> {
  return ctx.db.maybe(useTicket, { hash: hashOf(ticket), now: ctx.clock.now() });
}

/** Whether whoever opened a console may still look at it. */
export async function mayStayOpen(ctx: Context, ticket: Ticket): Promise<boolean> {
  const row = await ctx.db.maybe(stillAllowed, {
    organizationId: ticket.organization_id,
    userId: ticket.user_id,
    serviceId: ticket.service_id,
    apiKeyId: ticket.api_key_id,
    now: ctx.clock.now(),
  });
  return row !== null && permissionsOf(row.role, row.limits ?? undefined).has(permission);
}

function hashOf(ticket: string): Buffer {
  return createHash('sha256').update(ticket).digest();
}

export const ticketPeriodicJob: PeriodicJob = {
  name: 'vps.dropTickets',
  intervalMs: 60_000,
  work: (ctx) => ctx.db.run(dropTickets, { before: new Date(ctx.clock.now().getTime() - 60_000) }),
};
