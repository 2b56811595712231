import {
  checkIdentity,
  type GuestIdentity,
  type Hypervisor,
  identityLimits,
  keysBytes,
  type MachineSpec,
} from '../../drivers/hypervisor/index.ts';
import { isRejectedAt, reasonAgainst, requireImage, requireOrderedImage } from '../../fleet/index.ts';
import {
  type Context,
  type ErrorDetail,
  fail,
  type OrganizationContext,
  type Run,
  statement,
  transaction,
} from '../../platform/index.ts';
import { hashServerPassword } from '../../services/index.ts';
import { generatePassword, requireHostname, requireStrong } from '../access/identity.ts';
import { chooseKeys, type InstalledKey, keysOnMachine, writeAccess } from '../access/keys.ts';
import { requestAction } from '../actions/act.ts';
import { requireNoStop, startUnlessToStop, stopped } from '../actions/forcedStop.ts';
import { viewAction } from '../actions/history.ts';
import { type ActionPayload, actionJob } from '../actions/job.ts';
import { actionSaga, withMachine } from '../actions/saga.ts';
import { keepSecrets, openSecrets } from '../actions/secrets.ts';
import { requireLatest, requireLatestNow } from '../incarnations.ts';
import { type MachineRow, setMachineState } from '../machine.ts';
import { startAgain } from '../power.ts';
import { holdCopies } from '../snapshots/rows.ts';
import { ensureImage } from './ensureImage.ts';

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

const reinstallJob = actionJob<Payload>('reinstall');

const setSystem = statement<never, { serviceId: number; image: string; hostname: string }>(
  'vps.setSystem',
  `update machines set image = :image, hostname = :hostname, boot = 'disk', rescue = false, in_rescue = false,
     replaced_by = null
   where service_id = :serviceId`,
);
const forgetSnapshots = statement<never, { serviceId: number }>(
  'vps.forgetSnapshots',
  `delete from vps_snapshots where service_id = :serviceId and kind = 'snapshot'`,
);

const readyTimeoutMs = 300_000;

/**
 * Puts a new system on the machine: disk and snapshots are gone afterwards, addresses and backups stay. Without
 * a password and without any key one is generated, and shown in this answer alone.
 */
export async function reinstallVps(ctx: OrganizationContext, id: number, body: ReinstallBody) {
  if (body.password !== undefined) requireStrong(body.password);
  if (body.hostname !== undefined) requireHostname(body.hostname);
  let generated: string | null = null;
  const action = await requestAction(ctx, id, reinstallJob, async (tx, vps, actionId) => {
    const image = await requireImage(tx, body.os);
    const message =
      reasonAgainst(image, { memoryMib: vps.memory_mib ?? 0, diskGib: vps.disk_gib ?? 0 }) ??
      ((await isRejectedAt(tx, vps.node_id, image.slug))
        ? `${image.name} cannot run on the host of this machine; choose another system`
        : null);
    if (message !== null)
      throw fail('invalid_configuration', { message, details: [{ field: 'os', message }] });
    const keys = body.ssh_key_ids ? await chooseKeys(tx, id, body.ssh_key_ids) : await keysOnMachine(tx, id);
    if (body.password === undefined && keys.length === 0) generated = generatePassword();
    const password = body.password ?? generated;
    const hostname = body.hostname?.toLowerCase() ?? vps.hostname ?? '';
    requireFitting(hostname, keys, body.user_data ?? '');
    const secrets: Secrets = {
      passwordHash: password === null ? null : hashServerPassword(password),
      userData: body.user_data ?? null,
    };
    await keepSecrets(tx, vps.organization_id, actionId, secrets);
    return { image: image.slug, hostname, keys };
  });
  return { action: viewAction(ctx, action), password: generated };
}

/** Refuses what would not reach the new system, while there is still the old one. */
function requireFitting(hostname: string, keys: InstalledKey[], userData: string): void {
  const { hostnameBytes, authorizedKeysBytes, userDataBytes } = identityLimits;
  const details: ErrorDetail[] = [];
  if (Buffer.byteLength(hostname) > hostnameBytes)
    details.push({ field: 'hostname', message: `must have at most ${hostnameBytes} characters` });
  if (keysBytes(publicKeys(keys)) > authorizedKeysBytes)
    details.push({ field: 'ssh_key_ids', message: `must have at most ${authorizedKeysBytes} bytes of keys` });
  if (Buffer.byteLength(userData) > userDataBytes)
    details.push({ field: 'user_data', message: `must have at most ${userDataBytes} bytes of UTF-8` });
  if (details.length > 0) throw fail('invalid_request', { details });
}

function publicKeys(keys: InstalledKey[]): string[] {
  return keys.map((key) => key.public_key);
}

const beginReplacing = statement<{ isBegun: boolean }, { serviceId: number; actionId: number }>(
  'vps.beginReplacing',
  `update machines m set replaced_by = :actionId
   from (select replaced_by from machines where service_id = :serviceId for update) before
   where m.service_id = :serviceId
   returning before.replaced_by is not distinct from :actionId::bigint as "isBegun"`,
);
const notReplaced = statement<never, { serviceId: number; actionId: number }>(
  'vps.notReplaced',
  'update machines set replaced_by = null where service_id = :serviceId and replaced_by = :actionId',
);
const isReplacing = statement<{ service_id: number }, { serviceId: number; actionId: number }>(
  'vps.isReplacing',
  'select service_id from machines where service_id = :serviceId and replaced_by = :actionId',
);

/** Steps that leave the disk as it was when they fail; of the last one the driver promises it for one try. */
const harmless: ReadonlySet<string> = new Set(['begin', 'image', 'check', 'off', 'disk']);

export const reinstall = actionSaga(reinstallJob, {
  steps: [
    { name: 'image', do: prepareImage },
    { name: 'check', do: check },
    {
      name: 'off',
      do: (run) =>
        withMachine(run, async (driver, spec) => {
          await requireLatest(run.ctx, spec.id);
          await driver.powerOff(spec.id);
        }),
      undo: async (run) => {
        if (!('replaced' in run.state || (await mayBeReplaced(run.ctx, run.payload)))) await startAgain(run);
      },
    },
    { name: 'disk', do: replaceDisk },
    { name: 'replaced', do: ({ ctx, payload }) => writeSystem(ctx, payload) },
    {
      name: 'identity',
      do: writeIdentity,
      // Whatever fails from here on, what the guest was to be told must not stay on its host.
      undo: forgetIdentity,
    },
    {
      name: 'boot',
      do: (run) => withMachine(run, (driver, spec) => startFromDisk(run, driver, spec)),
    },
    {
      name: 'ready',
      attempts: 2,
      do: (run) =>
        withMachine(run, async (driver, spec) => {
          await startFromDisk(run, driver, spec);
          await driver.waitUntilReady(spec, { timeoutMs: readyTimeoutMs, signal: run.signal });
        }),
    },
    { name: 'forget', do: forgetIdentity },
  ],
  failed: async (ctx, payload, { step }) => {
    if (!harmless.has(step) || (await mayBeReplaced(ctx, payload)))
      await setMachineState(ctx, payload.serviceId, 'error');
  },
});

async function prepareImage(run: Run<Payload, object>): Promise<void> {
  const image = await requireOrderedImage(run.ctx, run.payload.image);
  await withMachine(run, (driver) => ensureImage(run, driver, image));
}

async function startFromDisk(
  run: Run<Payload, object>,
  driver: Hypervisor,
  spec: MachineSpec,
): Promise<void> {
  const why = await startUnlessToStop(run, driver, async () => {
    await requireLatest(run.ctx, spec.id);
    await driver.start({ ...spec, boot: 'disk' });
  });
  if (why !== null) throw stopped(why);
}

async function check(run: Run<Payload, object>): Promise<void> {
  await requireNoStop(run);
  await withMachine(run, async (_driver, spec, machine) => {
    await requireLatestNow(run.ctx, spec.id);
    checkIdentity(await identityOf(run, machine));
  });
}

// Until the disk is there, the machine's row goes on saying what the old one starts with.
async function replaceDisk(run: Run<Payload, object>) {
  const { serviceId, actionId } = run.payload;
  const { isBegun } = await run.ctx.db.one(beginReplacing, { serviceId, actionId });
  try {
    await withMachine(run, (driver, spec) => driver.rebuildDisk({ ...spec, image: run.payload.image }));
  } catch (error) {
    // A try before this one that was cut off may have replaced the disk, whatever this one says.
    if (!isBegun) await run.ctx.db.run(notReplaced, { serviceId, actionId });
    throw error;
  }
  return { replaced: true };
}

/** Whether the disk may be the new one though nobody wrote that down. */
async function mayBeReplaced(ctx: Context, { serviceId, actionId }: Payload): Promise<boolean> {
  return (await ctx.db.maybe(isReplacing, { serviceId, actionId })) !== null;
}

/** What the new disk has made true, whatever becomes of the guest on it. */
async function writeSystem(ctx: Context, payload: Payload): Promise<void> {
  const { serviceId, organizationId, image, hostname, keys } = payload;
  await transaction(ctx, 'vps.writeSystem', async (tx) => {
    await tx.db.run(setSystem, { serviceId, image, hostname });
    await tx.db.run(forgetSnapshots, { serviceId });
    await holdCopies(tx, serviceId);
    await writeAccess(tx, serviceId, organizationId, keys);
  });
}

async function identityOf(
  { ctx, payload }: Run<Payload, object>,
  machine: MachineRow,
): Promise<GuestIdentity> {
  const secrets = await openSecrets<Secrets>(ctx, payload.actionId);
  return {
    hostname: payload.hostname,
    passwordHash: secrets.passwordHash ?? null,
    authorizedKeys: publicKeys(payload.keys),
    nameservers: machine.nameservers,
    userData: secrets.userData ?? null,
  };
}

function writeIdentity(run: Run<Payload, object>): Promise<void> {
  return withMachine(run, async (driver, spec, machine) =>
    driver.writeIdentity(spec, await identityOf(run, machine)),
  );
}

function forgetIdentity(run: Run<Payload, object>): Promise<void> {
  return withMachine(run, (driver, spec) => driver.forgetSecrets(spec.id));
}
