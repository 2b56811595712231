import { listAddresses } from '../fleet/index.ts';
import type { OrganizationContext } from '../platform/index.ts';
import { machineSize } from '../services/index.ts';
import { viewAction } from './actions.ts';
import { findVpsFor, type VpsRow } from './queries.ts';
import { actionNames, reasonAgainst } from './states.ts';

/** Everything about a VPS at a glance: what it is, how it is, and which actions are possible right now. */
export async function readOverview(ctx: OrganizationContext, id: number) {
  const vps = await findVpsFor(ctx, id);
  const ordered = machineSize(vps.options);
  const state = vps.state ?? 'creating';
  const isUp = state === 'running' && vps.started_at !== null;
  return {
    vps: {
      service_id: vps.service_id,
      hostname: vps.hostname ?? vps.domain ?? '',
      state,
      locked: vps.action !== null,
      uptime_s: isUp ? secondsSince(vps.started_at, ctx.clock.now()) : null,
      os: { slug: vps.image ?? ordered.image, name: vps.image_name, version: vps.image_version },
      location: vps.location ?? ordered.location,
      resources: {
        cpu: vps.cpu_cores ?? ordered.cpuCores,
        memory_mb: vps.memory_mib ?? ordered.memoryMib,
        disk_gb: vps.disk_gib ?? ordered.diskGib,
        port_mbps: vps.port_mbps ?? ordered.portMbps,
      },
      ips: await viewIps(ctx, vps),
      current_action: vps.action === null ? null : viewAction(vps.action),
      actions: possibleActions(vps),
    },
  };
}

function secondsSince(then: Date | null, now: Date): number {
  return then === null ? 0 : Math.max(0, Math.floor((now.getTime() - then.getTime()) / 1_000));
}

function possibleActions(vps: VpsRow) {
  const machine = {
    state: vps.state ?? ('creating' as const),
    serviceStatus: vps.service_status,
    lockedBy: vps.action?.command ?? null,
  };
  const entries = actionNames.map((name) => {
    const reason = reasonAgainst(name, machine);
    return [name, { allowed: reason === null, reason }] as const;
  });
  return Object.fromEntries(entries) as Record<
    (typeof actionNames)[number],
    { allowed: boolean; reason: string | null }
  >;
}

/** The addresses of a VPS. An order that is not paid yet holds addresses but does not show them. */
export async function readIps(ctx: OrganizationContext, id: number) {
  const vps = await findVpsFor(ctx, id);
  return { ips: await viewIps(ctx, vps) };
}

async function viewIps(ctx: OrganizationContext, vps: VpsRow) {
  if (vps.service_status === 'pending' && vps.state === null) return [];
  const addresses = await listAddresses(ctx, vps.service_id);
  return addresses.map((address, index) => ({
    address: address.address,
    prefix: address.prefix,
    family: address.family,
    gateway: address.gateway,
    mac: vps.mac,
    primary: index === 0,
    dns_name: address.dnsName,
  }));
}
