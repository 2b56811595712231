import type { HypervisorCapability } from '../drivers/hypervisor/index.ts';
import { type Context, fail, type OrganizationContext, requireOwn, statement } from '../platform/index.ts';
import { kinds } from '../services/index.ts';
import { holdsLock } from './actions/lock.ts';
import type { ActionStatus, MachineState } from './states.ts';

export interface VpsRow {
  service_id: number;
  organization_id: number;
  service_status: string;
  module_id: number;
  domain: string | null;
  options: Record<string, unknown>;
  node_id: number | null;
  incarnation: number | null;
  image: string | null;
  image_name: string | null;
  image_version: string | null;
  hostname: string | null;
  cpu_cores: number | null;
  memory_mib: number | null;
  disk_gib: number | null;
  port_mbps: number | null;
  mac: string | null;
  location: string | null;
  capabilities: HypervisorCapability[] | null;
  /** When its node was heard of last, while it is silent. */
  silent_since: Date | null;
  wanted: 'running' | 'stopped' | null;
  state: MachineState | null;
  started_at: Date | null;
  in_rescue: boolean | null;
  protect_delete: boolean | null;
  protect_reinstall: boolean | null;
  action: CurrentAction | null;
}

export interface ActionRow {
  id: number;
  service_id: number;
  command: string;
  status: ActionStatus;
  progress: number;
  note: string | null;
  initiator_type: 'user' | 'staff' | 'system' | 'api_key';
  initiator_id: number | null;
  initiator_name: string | null;
  /** Whose key it was. */
  initiator_owner: number | null;
  initiator_ip: string | null;
  error_code: string | null;
  error_message: string | null;
  created_at: Date | string;
  started_at: Date | string | null;
  finished_at: Date | string | null;
}

/** The action that a machine is busy with: it holds the lock, or waits until another lets go of it. */
export interface CurrentAction extends ActionRow {
  waits: boolean;
}

/**
 * In SQL: what people know an initiator by, an e-mail address or the name of a key; the provider's people stay unnamed, and
 * so do those who have closed their account, with their keys.
 */
export function initiatorName(type: string, id: string): string {
  return `case ${type} when 'user' then (select u.email from users u where u.id = ${id} and u.status <> 'closed')
    when 'api_key' then (select nullif(k.name, '') from api_keys k where k.id = ${id}) end`;
}

/** In SQL: whose key an initiator is. */
export function initiatorOwner(type: string, id: string): string {
  return `case ${type} when 'api_key' then (select k.user_id from api_keys k where k.id = ${id}) end`;
}

const wholeAction = `to_jsonb(a)
  || jsonb_build_object('initiator_name', ${initiatorName('a.initiator_type', 'a.initiator_id')},
    'initiator_owner', ${initiatorOwner('a.initiator_type', 'a.initiator_id')})`;
const selectVps = `
  select s.id as service_id, s.organization_id, s.status as service_status, p.module_id, s.domain, s.options,
    m.node_id, m.incarnation, m.image, i.name as image_name, i.version as image_version, m.hostname, m.cpu_cores, m.memory_mib,
    m.disk_gib, m.port_mbps, m.mac::text as mac, n.location, n.capabilities,
    case when not n.reachable then n.seen_at end as silent_since, m.wanted, m.state, m.started_at, m.in_rescue,
    m.protect_delete, m.protect_reinstall,
    coalesce((select ${wholeAction} from vps_actions a where a.service_id = s.id and ${holdsLock('a')}),
      (select ${wholeAction} from vps_actions a where a.service_id = s.id and a.waits
       order by a.created_at, a.id limit 1)) as action
  from services s
  join products p on p.id = s.product_id
  left join machines m on m.service_id = s.id
  left join nodes n on n.id = m.node_id
  left join images i on i.slug = m.image
  where s.id = :id`;

const vpsById = statement<VpsRow, { id: number }>('vps.byId', selectVps);
const lockService = statement<{ id: number }, { id: number }>(
  'vps.lockService',
  'select id from services where id = :id for update',
);

const lockOwnService = statement<{ id: number }, { id: number; organizationId: number }>(
  'vps.lockOwnService',
  'select id from services where id = :id and organization_id = :organizationId for update',
);

/** Whether a service, or what happened to one, is this room's. */
export function isVps({ module_id: id }: { module_id: number }): boolean {
  return id === kinds.vps.id;
}

/** Makes changes to a VPS, by requests, jobs and the reconciler alike, wait for this transaction. */
export async function lockVps(ctx: Context, id: number): Promise<void> {
  await ctx.db.maybe(lockService, { id });
}

/** The same for a caller, to whom another organization's is not there: nobody waits for a stranger's lock. */
export async function lockOwnVps(ctx: OrganizationContext, id: number): Promise<boolean> {
  const { organizationId } = ctx;
  return (await ctx.db.maybe(lockOwnService, { id, organizationId })) !== null;
}

/**
 * Finds a VPS of the caller's organization. `not_found`, `forbidden` when it is another organization's,
 * `not_a_vps` when the service is something else. With `lock`, changes to it wait for this transaction.
 */
export async function requireVps(
  ctx: OrganizationContext,
  id: number,
  options: { lock: boolean } = { lock: false },
): Promise<VpsRow> {
  // First the lock, then the look: a statement that waited for a lock still sees what was there before.
  if (options.lock) await lockOwnVps(ctx, id);
  const row = await requireOwn(ctx, vpsById, { id });
  if (!isVps(row)) throw fail('not_a_vps');
  return row;
}

/** Refuses to change anything about a VPS whose service may not be used: `action_not_allowed`. */
export function requireUsable({ service_status: status }: VpsRow): void {
  if (status === 'active' || status === 'pending') return;
  throw fail('action_not_allowed', { message: `The service is ${status}` });
}

/** What a machine is, as its customer sees it: one that has no row is still to be made, or gone. */
export function stateOf({ state, service_status: status }: VpsRow): MachineState {
  return state ?? (status === 'terminated' || status === 'cancelled' ? 'deleting' : 'creating');
}

/** A VPS for a job, whoever owns it; null when there is none. */
export function findVps(ctx: Context, id: number): Promise<VpsRow | null> {
  return ctx.db.maybe(vpsById, { id });
}

export const servicesOfInvoice = statement<{ id: number }, { invoiceId: number }>(
  'vps.servicesOfInvoice',
  'select id from services where invoice_id = :invoiceId order by id',
);
