import { isIPv6 } from 'node:net';
import ipaddr from 'ipaddr.js';
import type { ReverseDns } from '../drivers/dns/index.ts';
import { listAddresses, lockAddresses, setReverseName } from '../fleet/index.ts';
import { possibleActions, reasonAgainstRole } from '../platform/http/index.ts';
import { fail, type OrganizationContext, statement, type TxContext, transaction } from '../platform/index.ts';
import { resourcesOf, vpsOptions } from '../services/index.ts';
import { readShieldOf } from '../shield/index.ts';
import { factsOf, reasonAgainstForce } from './actions/act.ts';
import { viewAction } from './actions/history.ts';
import { chartPartsSince } from './chartParts.ts';
import { lockOwnVps, requireUsable, requireVps, stateOf, type VpsRow } from './queries.ts';
import { actionNames, powerOff, reasonAgainst, ruleOf } from './states.ts';

interface UsageRow {
  cpu: number | null;
  mem: number | null;
  netin: number | null;
  netout: number | null;
  traffic_bytes: number;
}

const usageOf = statement<
  UsageRow,
  { serviceId: number; organizationId: number; now: Date; parts: number[] }
>(
  'vps.usage',
  `select s.cpu, s.mem, s.netin, s.netout, coalesce(t.bytes, 0)::bigint as traffic_bytes
   from (values (:serviceId::bigint)) v(id)
   left join lateral (select cpu, mem, netin, netout from vps_charts
     where service_id = v.id and organization_id = :organizationId and interval_s = 10 and part = any(:parts::smallint[])
       and time > :now::timestamptz - interval '1 minute'
     order by time desc limit 1) s on true
   left join vps_traffic t on t.service_id = v.id and t.month =
     date_trunc('month', :now::timestamptz, 'UTC')::date`,
);

/** The last hour, in so many steps: enough for a line that is as wide as a word. */
const recentSteps = 30;
const recentStepS = 120;

const recentOf = statement<
  { nth: number; cpu: number; mem: number },
  { serviceId: number; organizationId: number; since: Date; stepS: number; parts: number[] }
>(
  'vps.recent',
  `select floor(extract(epoch from time - :since::timestamptz) / :stepS::int)::int as nth,
     avg(cpu)::float8 as cpu, avg(mem)::float8 as mem
   from vps_charts
   where service_id = :serviceId and organization_id = :organizationId and interval_s = 10 and part = any(:parts::smallint[])
     and time >= :since group by 1`,
);

const bytesPerMb = 1_048_576;
const bytesPerGb = 1_000_000_000;
const bitsPerByte = 8;

/** Everything about a VPS at a glance: what it is, how it is, and which actions are possible right now. */
export async function readOverview(ctx: OrganizationContext, id: number) {
  const vps = await requireVps(ctx, id);
  const ordered = vpsOptions.read(vps.options);
  const resources = resourcesOf(ordered);
  const state = stateOf(vps);
  const machine = factsOf(vps);
  const now = ctx.clock.now();
  const usage = await ctx.db.one(usageOf, {
    ...{ serviceId: id, organizationId: ctx.organizationId, now },
    parts: chartPartsSince('hour', new Date(now.getTime() - 60_000), now),
  });
  const isUp = state === 'running' && vps.started_at !== null;
  const againstForce = await reasonAgainstForce(ctx, vps);
  return {
    vps: {
      service_id: vps.service_id,
      read_at: now,
      hostname: vps.hostname ?? vps.domain ?? '',
      state,
      locked: vps.action !== null,
      host_silent_since: vps.silent_since,
      uptime_s: isUp ? secondsSince(vps.started_at, now) : null,
      os: { slug: vps.image ?? ordered.os, name: vps.image_name, version: vps.image_version },
      location: vps.location ?? ordered.location,
      resources: {
        cpu: vps.cpu_cores ?? resources.cpuCores,
        memory_mb: vps.memory_mib ?? resources.memoryMib,
        disk_gb: vps.disk_gib ?? resources.diskGib,
        port_mbps: vps.port_mbps ?? ordered.portMbps,
      },
      usage: isUp ? viewUsage(usage) : null,
      recent: await readRecent(ctx, id),
      traffic: {
        used_gb: usage.traffic_bytes / bytesPerGb,
        limit_gb: null,
        resets_at: new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1)),
      },
      ips: await viewIps(ctx, vps),
      current_action: vps.action === null ? null : viewAction(ctx, vps.action),
      actions: possibleActions([...actionNames, powerOff], (name) =>
        name === powerOff
          ? (reasonAgainstRole(ctx.permissions, ruleOf('stop').permission) ?? againstForce)
          : (reasonAgainstRole(ctx.permissions, ruleOf(name).permission) ?? reasonAgainst(name, machine)),
      ),
    },
  };
}

// The newest sample of a running machine; null until there is one.
function viewUsage(usage: UsageRow) {
  if (usage.cpu === null) return null;
  return {
    cpu_percent: usage.cpu,
    memory_used_mb: (usage.mem ?? 0) / bytesPerMb,
    disk_used_gb: null,
    net_in_bps: (usage.netin ?? 0) * bitsPerByte,
    net_out_bps: (usage.netout ?? 0) * bitsPerByte,
  };
}

/** What it used in the last hour. Steps end on the clock, so that what is read twice is the same twice. */
async function readRecent(ctx: OrganizationContext, serviceId: number) {
  const { organizationId } = ctx;
  const stepMs = recentStepS * 1_000;
  const now = ctx.clock.now();
  const end = Math.floor(now.getTime() / stepMs) + 1;
  const since = new Date((end - recentSteps) * stepMs);
  const parts = chartPartsSince('hour', since, now);
  const rows = await ctx.db.many(recentOf, { serviceId, organizationId, since, stepS: recentStepS, parts });
  const byStep = new Map(rows.map((row) => [row.nth, row]));
  const steps = Array.from({ length: recentSteps }, (_, nth) => byStep.get(nth));
  return {
    interval_s: recentStepS,
    cpu_percent: steps.map((step) => (step === undefined ? null : Math.round(step.cpu * 10) / 10)),
    memory_used_mb: steps.map((step) => (step === undefined ? null : Math.round(step.mem / bytesPerMb))),
  };
}

function secondsSince(then: Date | null, now: Date): number {
  return then === null ? 0 : Math.max(0, Math.floor((now.getTime() - then.getTime()) / 1_000));
}

/** The addresses of a VPS. An order that is not paid yet holds addresses but does not show them. */
export async function readIps(ctx: OrganizationContext, id: number) {
  const vps = await requireVps(ctx, id);
  return { ips: await viewIps(ctx, vps) };
}

async function viewIps(ctx: OrganizationContext, vps: VpsRow) {
  if (vps.service_status === 'pending' && vps.state === null) return [];
  return viewIpsOf(ctx, vps.service_id, vps.mac);
}

/** The addresses of a service whose machine or server has this MAC. */
export async function viewIpsOf(ctx: OrganizationContext, serviceId: number, mac: string | null) {
  const addresses = await listAddresses(ctx, serviceId);
  const shieldOf = await readShieldOf(ctx, serviceId);
  return addresses.map((address, index) => ({
    address: address.address,
    prefix: address.prefix,
    family: address.family,
    gateway: address.gateway,
    mac,
    primary: index === 0,
    dns_name: address.dnsName,
    shield: shieldOf(address.address),
  }));
}

/** Nobody changes the machine's addresses or their names until the transaction ends. */
export async function lockIps(tx: OrganizationContext & TxContext, id: number): Promise<void> {
  if (await lockOwnVps(tx, id)) await lockAddresses(tx, id);
}

/**
 * Sets or takes away the name that reverse DNS gives for one of the machine's addresses. `not_supported` for an IPv6
 * address where the name server keeps none, `action_not_allowed` while the service may not be used.
 */
export async function changeIp(
  ctx: OrganizationContext,
  id: number,
  body: { address: string; dns_name: string | null },
  dns: ReverseNames,
) {
  return transaction(ctx, 'vps.changeIp', async (tx) => {
    const vps = await requireVps(tx, id, { lock: true });
    requireUsable(vps);
    return { ip: await nameIp(tx, id, body, dns, () => viewIps(tx, vps)) };
  });
}

/** What reverse DNS can do where this runs. */
export type ReverseNames = Pick<ReverseDns, 'capabilities'>;

type Ips = Awaited<ReturnType<typeof viewIpsOf>>;

/** The name of an address of a service that may be used; answers the address as `view` has it then. */
export async function nameIp(
  tx: OrganizationContext & TxContext,
  serviceId: number,
  body: { address: string; dns_name: string | null },
  dns: ReverseNames,
  view: () => Promise<Ips>,
): Promise<Ips[number]> {
  // As the database writes it; what is no address at all is none of the machine's.
  const address = ipaddr.isValid(body.address) ? ipaddr.parse(body.address).toString() : body.address;
  if (isIPv6(address) && body.dns_name !== null && !dns.capabilities.includes('ipv6')) {
    const message = 'The name server keeps no names of IPv6 addresses';
    throw fail('not_supported', { message, details: [{ field: 'address', message }] });
  }
  await setReverseName(tx, serviceId, address, body.dns_name);
  const ip = (await view()).find((candidate) => candidate.address === address);
  if (!ip) throw fail('not_found');
  return ip;
}
