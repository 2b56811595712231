import {
  findImage,
  installationSince,
  isLastAssignment,
  lockAddresses,
  notMeasured,
  readRentedHardware,
  readRentedSensors,
} from '../fleet/index.ts';
import { possibleActions, reasonAgainstRole } from '../platform/http/index.ts';
import { fail, type OrganizationContext, type TxContext, transaction } from '../platform/index.ts';
import { dedicatedOptions } from '../services/index.ts';
import { nameIp, type ReverseNames, viewAction, viewIpsOf } from '../vps/index.ts';
import { viewTraffic } from './bandwidth/read.ts';
import { progressOf } from './progress.ts';
import { type Dedicated, factsOf, lockOwnDedicated, requireDedicated } from './queries.ts';
import { wordsOfUnwiped } from './return/erasure.ts';
import { dedicatedActions, reasonAgainst, ruleOf, stateOf, wordsOfBroken } from './states.ts';

/** Everything about a server at a glance, from what is kept: nobody waits for its BMC. */
export async function readDedicated(ctx: OrganizationContext, id: number) {
  const dedicated = await requireDedicated(ctx, id);
  const { server, action } = dedicated;
  const facts = factsOf(dedicated);
  const ordered = dedicatedOptions.read(dedicated.options);
  const image = await findImage(ctx, dedicated.os);
  return {
    dedicated: {
      ...{ service_id: id, read_at: ctx.clock.now(), hostname: dedicated.hostname },
      ...{ state: stateOf(facts), locked: action !== null },
      power: {
        state: server?.power ?? null,
        heard_at: server?.heardAt ?? null,
        silent: server?.isSilent ?? false,
      },
      os: { slug: dedicated.os, name: image?.name ?? null, version: image?.version ?? null },
      problem: wordsOfBroken(facts) ?? (await wordsOfUnwiped(ctx, dedicated)) ?? dedicated.problem,
      // Of one that is only held nothing is its customer's yet.
      system: server === null || server.state === 'held' ? null : server.system,
      location: server?.location ?? ordered.location,
      traffic: await viewTraffic(ctx, id),
      ips: await viewIps(ctx, dedicated),
      delivery: await viewDelivery(ctx, dedicated),
      current_action: action === null ? null : viewAction(ctx, action),
      actions: possibleActions(
        dedicatedActions,
        (name) => reasonAgainstRole(ctx.permissions, ruleOf(name).permission) ?? reasonAgainst(name, facts),
      ),
    },
  };
}

/** How far the server of a paid order is; null: nothing was begun yet, or it is its customer's. */
async function viewDelivery(ctx: OrganizationContext, { server, status, createdAt }: Dedicated) {
  if (status !== 'pending' || server === null) return null;
  const assignment = await installationSince(ctx, server.id, createdAt);
  // That of somebody who had the server before was followed by its return.
  if (assignment === null || !(await isLastAssignment(ctx, assignment.id))) return null;
  const { percent: progress, note } = progressOf(assignment);
  return { progress, note };
}

/** What a server has, as its installer measured it, and what differs since. */
export async function readDedicatedHardware(ctx: OrganizationContext, id: number) {
  const { server } = await requireDedicated(ctx, id);
  // Of one that is only held nothing is its customer's yet.
  if (server?.state !== 'rented') return notMeasured;
  return readRentedHardware(ctx, server.id);
}

/** What was measured of a server when it was read last. */
export async function readDedicatedSensors(ctx: OrganizationContext, id: number) {
  const { server } = await requireDedicated(ctx, id);
  if (server?.state !== 'rented') return { sensors: [], read_at: null, silent: false };
  return readRentedSensors(ctx, server.id);
}

export async function readDedicatedIps(ctx: OrganizationContext, id: number) {
  return { ips: await viewIps(ctx, await requireDedicated(ctx, id)) };
}

/** An order that is not delivered yet holds addresses but does not show them. */
async function viewIps(ctx: OrganizationContext, { serviceId, server, status }: Dedicated) {
  return status === 'pending' ? [] : viewIpsOf(ctx, serviceId, server?.mac ?? null);
}

/** Nobody changes the addresses of a server or their names until the transaction ends. */
export async function lockDedicatedIps(tx: OrganizationContext & TxContext, id: number): Promise<void> {
  if (await lockOwnDedicated(tx, id)) await lockAddresses(tx, id);
}

/** Sets or takes away the name that reverse DNS gives for an address of a server; errors as for a VPS. */
export async function changeDedicatedIp(
  ctx: OrganizationContext,
  id: number,
  body: { address: string; dns_name: string | null },
  dns: ReverseNames,
) {
  return transaction(ctx, 'dedicated.changeIp', async (tx) => {
    const dedicated = await requireDedicated(tx, id, { lock: true });
    if (dedicated.status !== 'active')
      throw fail('action_not_allowed', { message: `The service is ${dedicated.status}` });
    return { ip: await nameIp(tx, id, body, dns, () => viewIps(tx, dedicated)) };
  });
}
