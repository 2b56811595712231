import { findProducts } from '../../catalog/index.ts';
import { identityLimits } from '../../drivers/hypervisor/index.ts';
import {
  closeAllOf,
  disksOf,
  listAddresses,
  listServerImages,
  openAssignment,
  type ServerSystem,
  serverSystemOf,
  takesUserData,
} from '../../fleet/index.ts';
import { type Context, fail, type NamedJob, type OrganizationContext } from '../../platform/index.ts';
import { dedicatedOptions, requireOrder } from '../../services/index.ts';
import { requireHostname, viewAction } from '../../vps/index.ts';
import { chooseAccess, type WantedAccess } from '../access.ts';
import type { InstallerJob } from '../customerStages.ts';
import { requestWork } from '../work.ts';
import { chooseLayout, type WantedDisks } from './layout.ts';

export interface ReinstallBody extends WantedAccess {
  os: string;
  hostname?: string | undefined;
  user_data?: string | undefined;
  disks?: WantedDisks | undefined;
  /** What the server is called, typed by whoever means it. */
  confirm: string;
}

export interface ReinstallPayload extends InstallerJob {
  os: string;
  hostname: string;
}

export const reinstallJob: NamedJob<ReinstallPayload> = { name: 'dedicated.reinstall' };

/**
 * Puts a new system on a server: the disks that it goes to are wiped first, others stay as they are. Without a password and without any key one is generated, and
 * shown in this answer alone. Nothing is changed by what is refused: `invalid_request`, `invalid_domain`, `weak_password`, `invalid_configuration`, `locked`, `action_not_allowed`.
 */
export async function reinstallDedicated(ctx: OrganizationContext, id: number, body: ReinstallBody) {
  if (body.hostname !== undefined) requireHostname(body.hostname);
  let shown: string | null = null;
  const action = await requestWork(ctx, id, 'reinstall', reinstallJob, async (tx, dedicated, server) => {
    const { hostname: called } = dedicated;
    if (body.confirm.trim() !== called)
      throw refused(
        'confirm',
        `must be the name of the server, ${called}: what is on its disks is gone afterwards`,
      );
    const { system, slug, minDiskGib } = await requireSystem(tx, id, body.os);
    const layout = chooseLayout(await disksOf(tx, server.id), body.disks, { system, slug, minDiskGib });
    const { keys, passwordHash, generated } = await chooseAccess(tx, body);
    shown = generated;
    const hostname = body.hostname?.toLowerCase() ?? called;
    if (Buffer.byteLength(hostname) > identityLimits.hostnameBytes)
      throw refused('hostname', `must have at most ${identityLimits.hostnameBytes} characters`);
    const userData = userDataFor(slug, system, body.user_data);
    const addresses = await addressesOf(tx, id);
    if (addresses.length === 0)
      throw fail('action_not_allowed', {
        message: 'The service has no address at which a system could be reached',
      });
    await closeAllOf(tx, server.id);
    const identity = { hostname, keys, passwordHash, addresses, userData };
    const work = { task: 'install' as const, wipe: layout.serials, layout, identity };
    const assignmentId = await openAssignment(tx, server.id, work, system, { isOthers: true });
    return { assignmentId, os: slug, hostname };
  });
  return { action: viewAction(ctx, action), password: shown };
}

/** It is in the sealed plan alone, and goes with it when the installer is done or the action ends. Null: none. */
function userDataFor(slug: string, system: ServerSystem, userData = ''): string | null {
  if (userData === '') return null;
  if (!takesUserData(system))
    throw refused('user_data', `is read by no program of ${slug}, which has no cloud-init: leave it out`);
  if (Buffer.byteLength(userData) > identityLimits.userDataBytes)
    throw refused('user_data', `must have at most ${identityLimits.userDataBytes} bytes of UTF-8`);
  return userData;
}

/** A system that servers can be installed with and that the service's product offers; one that asks nobody for a system offers all. */
async function requireSystem(ctx: Context, serviceId: number, os: string) {
  const sold = await soldSystems(ctx, serviceId);
  const offered = (await listServerImages(ctx)).filter(({ slug }) => sold?.has(slug) ?? true);
  const image = offered.find(({ slug }) => slug === os);
  const system = image === undefined ? null : serverSystemOf(image);
  if (image !== undefined && system !== null)
    return { system, slug: image.slug, minDiskGib: image.minDiskGib };
  const names = offered.map(({ slug }) => slug).join(', ') || 'none';
  const message = `there is no system ${os} for this server; there are ${names}`;
  throw fail('invalid_configuration', { message, details: [{ field: 'os', message }] });
}

/** Slugs that the product of a service can be ordered with; null: it asks for none. */
async function soldSystems(ctx: Context, serviceId: number): Promise<ReadonlySet<string> | null> {
  const { productId } = await requireOrder(ctx, serviceId);
  const options = (await findProducts(ctx, [productId])).get(productId)?.options ?? [];
  const systems = options.find(({ key }) => key === dedicatedOptions.keyOf('os'));
  return systems?.kind === 'choice' ? new Set(systems.choices.map(({ value }) => value)) : null;
}

/** The addresses of a service, as our installer's plans name them. */
export async function addressesOf(ctx: Context, serviceId: number) {
  return (await listAddresses(ctx, serviceId)).map(({ family, address, prefix, gateway }) => ({
    ...{ family, address, prefix, gateway },
  }));
}

function refused(field: string, message: string) {
  return fail('invalid_request', { details: [{ field, message }] });
}
