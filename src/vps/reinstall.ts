import { findImage, findOrderedImage, reasonAgainst } from '../fleet/index.ts';
import {
  type AnySaga,
  fail,
  isDomain,
  type OrganizationContext,
  type Run,
  statement,
} from '../platform/index.ts';
import { chooseKeys, type InstalledKey, keysOnMachine, writeAccess } from './access.ts';
import {
  type ActionPayload,
  actionSaga,
  keepSecrets,
  openSecrets,
  requestAction,
  withMachine,
} from './act.ts';
import { viewAction } from './actions.ts';
import { generatePassword, hashPassword, requireStrong } from './identity.ts';
import type { HypervisorOf } from './machine.ts';

export interface ReinstallBody {
  os: string;
  password?: string;
  ssh_key_ids?: number[];
  hostname?: string;
  user_data?: string;
}

interface Secrets {
  passwordHash: string | null;
  userData: string | null;
}

interface Payload extends ActionPayload {
  image: string;
  hostname: string;
  keys: InstalledKey[];
}

const setSystem = statement(
  'vps.setSystem',
  `update machines set image = $2, hostname = $3, boot = 'disk', rescue = false where service_id = $1`,
);
const forgetSnapshots = statement(
  'vps.forgetSnapshots',
  `delete from vps_snapshots where service_id = $1 and kind = 'snapshot'`,
);

const readyTimeoutMs = 300_000;

/**
 * Puts a new system on the machine: disk and snapshots are gone afterwards, addresses and backups stay. Without
 * a password and without any key one is generated, and shown in this answer alone.
 */
export async function reinstallVps(ctx: OrganizationContext, id: number, body: ReinstallBody) {
  if (body.password !== undefined) requireStrong(body.password);
  if (body.hostname !== undefined && !isDomain(body.hostname, { atLeast: 1 })) throw fail('invalid_domain');
  let generated: string | null = null;
  const action = await requestAction(ctx, id, 'reinstall', async (tx, vps, actionId) => {
    const image = await findImage(tx, body.os);
    const message = reasonAgainst(image, { memoryMib: vps.memory_mib ?? 0, diskGib: vps.disk_gib ?? 0 });
    if (message !== null)
      throw fail('invalid_configuration', { message, details: [{ field: 'os', message }] });
    const keys = body.ssh_key_ids ? await chooseKeys(tx, id, body.ssh_key_ids) : await keysOnMachine(tx, id);
    if (body.password === undefined && keys.length === 0) generated = generatePassword();
    const password = body.password ?? generated;
    const secrets: Secrets = {
      passwordHash: password === null ? null : hashPassword(password),
      userData: body.user_data ?? null,
    };
    await keepSecrets(tx, vps.organization_id, actionId, secrets);
    const hostname = body.hostname?.toLowerCase() ?? vps.hostname ?? '';
    return { image: image.slug, hostname, keys };
  });
  return { action: viewAction(action), password: generated };
}

export function reinstallSaga(hypervisorOf: HypervisorOf): AnySaga {
  return actionSaga<Payload>({
    command: 'reinstall',
    stateAfterFailure: 'error',
    steps: [
      { name: 'image', action: (run) => prepareImage(run, hypervisorOf) },
      {
        name: 'off',
        action: (run) => withMachine(run, hypervisorOf, (driver, spec) => driver.powerOff(spec.id)),
      },
      { name: 'system', action: ({ ctx, payload }) => writeSystem(ctx, payload) },
      {
        name: 'disk',
        action: (run) => withMachine(run, hypervisorOf, (driver, spec) => driver.rebuildDisk(spec)),
      },
      {
        name: 'identity',
        action: (run) => writeIdentity(run, hypervisorOf),
        // Whatever fails from here on, what the guest was to be told must not stay on its host.
        undo: (run) => forgetIdentity(run, hypervisorOf),
      },
      {
        name: 'boot',
        action: (run) =>
          withMachine(run, hypervisorOf, (driver, spec) => driver.start({ ...spec, boot: 'disk' })),
      },
      {
        name: 'ready',
        attempts: 2,
        action: (run) =>
          withMachine(run, hypervisorOf, async (driver, spec) => {
            await driver.start({ ...spec, boot: 'disk' });
            await driver.waitUntilReady(spec, { timeoutMs: readyTimeoutMs, signal: run.signal });
          }),
      },
      { name: 'forget', action: (run) => forgetIdentity(run, hypervisorOf) },
    ],
    succeeded: async (ctx, payload) => {
      await ctx.db.run(forgetSnapshots, payload.serviceId);
      await writeAccess(ctx, payload.serviceId, payload.organizationId, payload.keys);
    },
  });
}

async function prepareImage(run: Run<Payload, object>, hypervisorOf: HypervisorOf): Promise<void> {
  const image = await findOrderedImage(run.ctx, run.payload.image);
  await withMachine(run, hypervisorOf, (driver) =>
    driver.ensureImage(image.source, (line) => run.ctx.log.info({ image: image.slug }, line)),
  );
}

async function writeSystem(ctx: Run<Payload, object>['ctx'], payload: Payload): Promise<void> {
  await ctx.db.run(setSystem, payload.serviceId, payload.image, payload.hostname);
}

function writeIdentity(run: Run<Payload, object>, hypervisorOf: HypervisorOf): Promise<void> {
  return withMachine(run, hypervisorOf, async (driver, spec, machine) => {
    const secrets = await openSecrets<Secrets>(run.ctx, run.payload.actionId);
    await driver.writeIdentity(spec, {
      hostname: machine.hostname,
      passwordHash: secrets.passwordHash ?? null,
      authorizedKeys: run.payload.keys.map((key) => key.public_key),
      nameservers: machine.nameservers,
      userData: secrets.userData ?? null,
    });
  });
}

function forgetIdentity(run: Run<Payload, object>, hypervisorOf: HypervisorOf): Promise<void> {
  return withMachine(run, hypervisorOf, (driver, spec) => driver.forgetSecrets(spec.id));
}
