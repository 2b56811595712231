import { randomBytes } from 'node:crypto';
import { sshKeysOf } from '../../account/index.ts';
import type { Hypervisor, MachineSpec } from '../../drivers/hypervisor/index.ts';
import {
  findPlacement,
  listAddresses,
  releaseResources,
  requireOrderedImage,
  reserveAddresses,
  reserveResources,
} from '../../fleet/index.ts';
import {
  type Context,
  type Failure,
  type Run,
  type Step,
  saga,
  type TxContext,
} from '../../platform/index.ts';
import {
  completeDelivery,
  failDelivery,
  hashServerPassword,
  markProvisioning,
  notWanted,
  openPassword,
  requireOrder,
  requireWanted,
  resourcesOf,
  vpsOptions,
} from '../../services/index.ts';
import { toInstall, writeAccess } from '../access/keys.ts';
import { finishAction, openSystemAction, progressAction } from '../actions/history.ts';
import { giveBackAddresses } from '../giveBack.ts';
import {
  findMachine,
  type MachineRow,
  machineIdOf,
  removeMachine,
  setMachineState,
  specOf,
  writeMachine,
} from '../machine.ts';
import { hostOutages } from '../outages.ts';
import { requireNoneUnknown } from '../unknown.ts';
import { ensureImage } from './ensureImage.ts';

interface Payload {
  serviceId: number;
  actionId: number;
}

interface State {
  mac: string;
}

type ProvisionRun = Run<Payload, State>;
type ProvisionStep = Step<Payload, State>;

const readyTimeoutMs = 300_000;

function actionOf(organizationId: number, serviceId: number, id: number) {
  return { id, organizationId, serviceId, command: 'create' };
}

const openStep: ProvisionStep = {
  name: 'open',
  transactional: true,
  do: async ({ ctx, payload }) => {
    const order = await requireOrder(ctx, payload.serviceId);
    await requireNoneUnknown(ctx, order.id);
    await markProvisioning(ctx, order.id);
    await openSystemAction(ctx, actionOf(order.organizationId, order.id, payload.actionId));
    return { mac: randomMac() };
  },
};

/** A locally administered address (IEEE 802) with 40 random bits: no two machines get the same. */
function randomMac(): string {
  return ['02', ...[...randomBytes(5)].map((byte) => byte.toString(16).padStart(2, '0'))].join(':');
}

// The order has held addresses and room since checkout; after a failure they were given back and are taken anew.
const addressStep: ProvisionStep = {
  name: 'addresses',
  transactional: true,
  do: async ({ ctx, payload }) => {
    const order = await requireOrder(ctx, payload.serviceId);
    if ((await listAddresses(ctx, order.id)).length > 0) return;
    const { location, ipv4Count, ipv6Count } = vpsOptions.read(order.options);
    await reserveAddresses(ctx, order.organizationId, [{ id: order.id, location, ipv4Count, ipv6Count }]);
  },
  undo: ({ ctx, payload }) => giveBackAddresses(ctx, payload.serviceId),
};

/** Finds the node, and goes on there. */
const placeStep: ProvisionStep = {
  name: 'place',
  transactional: true,
  do: async ({ ctx, payload, moveTo }) => {
    if ((await findPlacement(ctx, payload.serviceId)) === null) await reservePlace(ctx, payload.serviceId);
    const placement = await findPlacement(ctx, payload.serviceId);
    if (placement !== null) moveTo(placement.nodeId);
  },
  undo: ({ ctx, payload }) => releaseResources(ctx, payload.serviceId),
};

async function reservePlace(ctx: TxContext, serviceId: number): Promise<void> {
  const order = await requireOrder(ctx, serviceId);
  const options = vpsOptions.read(order.options);
  const { location, os: image } = options;
  await reserveResources(ctx, order.organizationId, [
    { id: order.id, location, image, resources: resourcesOf(options) },
  ]);
}

const machineStep: ProvisionStep = {
  name: 'machine',
  transactional: true,
  do: async ({ ctx, payload, state }) => {
    const order = await requireOrder(ctx, payload.serviceId);
    const placement = await findPlacement(ctx, order.id);
    if (placement === null || state.mac === undefined) throw new Error('the machine has no place yet');
    const options = vpsOptions.read(order.options);
    const resources = resourcesOf(options);
    await writeMachine(ctx, {
      service_id: order.id,
      organization_id: order.organizationId,
      node_id: placement.nodeId,
      image: options.os,
      hostname: order.domain ?? machineIdOf(order.id),
      cpu_cores: resources.cpuCores,
      memory_mib: resources.memoryMib,
      disk_gib: resources.diskGib,
      port_mbps: options.portMbps,
      mac: state.mac,
    });
  },
  undo: ({ ctx, payload }) => removeMachine(ctx, payload.serviceId),
};

async function machineOf(ctx: Context, serviceId: number): Promise<MachineRow> {
  const machine = await findMachine(ctx, serviceId);
  if (machine === null) throw new Error(`service ${serviceId} has no machine`);
  return machine;
}

async function withMachine<T>(
  run: ProvisionRun,
  work: (hypervisor: Hypervisor, spec: Awaited<ReturnType<typeof specOf>>, machine: MachineRow) => Promise<T>,
): Promise<T> {
  await requireWanted(run.ctx, run.payload.serviceId);
  const machine = await machineOf(run.ctx, run.payload.serviceId);
  return work(run.drivers.hypervisor(machine.node_id), await specOf(run.ctx, machine), machine);
}

// Undoing the disk takes all of the machine away, so the steps after it need no undo of their own.
const diskStep: ProvisionStep = {
  name: 'disk',
  do: (run) =>
    withMachine(run, async (hypervisor, spec) => {
      const image = await requireOrderedImage(run.ctx, spec.image);
      await ensureImage(run, hypervisor, image);
      await hypervisor.createDisk(spec);
    }),
  undo: async (run) => {
    const machine = await findMachine(run.ctx, run.payload.serviceId);
    if (machine === null) return;
    const hypervisor = run.drivers.hypervisor(machine.node_id);
    const id = machineIdOf(machine.service_id);
    if (run.isHeld) return requireGone(hypervisor, id);
    await hypervisor.destroy(id);
  },
};

/** After a restore a person takes a machine away that may have been delivered since the backup, never a job. */
async function requireGone(hypervisor: Hypervisor, id: string): Promise<void> {
  const { power } = await hypervisor.inspect(id);
  if (power === 'absent') return;
  const message = `${id} is on its node and is left alone: it may have been delivered since the backup that was restored. When nobody needs it, remove it on its node and retry this job`;
  throw Object.assign(new Error(message), { permanent: true });
}

const identityStep: ProvisionStep = {
  name: 'identity',
  do: (run) =>
    withMachine(run, async (hypervisor, spec, machine) => {
      const order = await requireOrder(run.ctx, machine.service_id);
      const password = await openPassword(run.ctx, machine.service_id);
      await hypervisor.writeIdentity(spec, {
        hostname: machine.hostname,
        passwordHash: password === null ? null : hashServerPassword(password),
        authorizedKeys: (await sshKeysOf(run.ctx, order.userId)).map((key) => key.publicKey),
        nameservers: machine.nameservers,
        userData: null,
      });
    }),
};

const bootStep: ProvisionStep = {
  name: 'boot',
  do: (run) => withMachine(run, boot),
};

/** Whatever its owner wants it to start from later, it has to take on its identity first. */
function boot(hypervisor: Hypervisor, spec: MachineSpec): Promise<void> {
  return hypervisor.start({ ...spec, boot: 'disk' });
}

const readyStep: ProvisionStep = {
  name: 'ready',
  attempts: 2,
  do: (run) =>
    withMachine(run, async (hypervisor, spec) => {
      const { power } = await hypervisor.inspect(spec.id);
      if (power !== 'running') await boot(hypervisor, spec); // after a failed try it may be down
      await hypervisor.waitUntilReady(spec, { timeoutMs: readyTimeoutMs, signal: run.signal });
    }),
};

const forgetStep: ProvisionStep = {
  name: 'forget',
  do: (run) => withMachine(run, (hypervisor, spec) => hypervisor.forgetSecrets(spec.id)),
};

/** The service is its customer's from here on; a refund that came before takes the machine back instead. */
const deliverStep: ProvisionStep = {
  name: 'deliver',
  transactional: true,
  do: async ({ ctx, payload: { serviceId, actionId } }) => {
    const order = await requireOrder(ctx, serviceId);
    const machine = await machineOf(ctx, serviceId);
    const primaryIp = (await listAddresses(ctx, serviceId))[0]?.address ?? null;
    await completeDelivery(ctx, order, { hostname: machine.hostname, primaryIp });
    await setMachineState(ctx, serviceId, 'running', { startedAt: ctx.clock.now() });
    const keys = (await sshKeysOf(ctx, order.userId)).map(toInstall);
    await writeAccess(ctx, serviceId, order.organizationId, keys);
    await endAction(ctx, actionOf(order.organizationId, serviceId, actionId), null);
  },
};

/** From a paid order to a machine that answers: the product's main job. */
export const provision = saga<Payload, State>({
  name: 'vps.provision',
  queue: 'machine',
  // Its room and addresses were given back, and may be somebody else's for a while.
  outages: [...hostOutages, 'insufficient_stock'],
  steps: [
    openStep,
    addressStep,
    placeStep,
    machineStep,
    diskStep,
    identityStep,
    bootStep,
    readyStep,
    forgetStep,
    deliverStep,
  ],
  progress: (run, done, of) => progressAction(run.ctx, run.payload.actionId, Math.floor((100 * done) / of)),
  failed: async (ctx, { serviceId, actionId }, failure) => {
    const order = await requireOrder(ctx, serviceId);
    const ended = await failDelivery(ctx, serviceId, `${failure.step}: ${failure.message}`);
    await endAction(ctx, actionOf(order.organizationId, serviceId, actionId), inWords(failure));
    return ended;
  },
  // It keeps its room and its addresses: its machine may still run.
  stuck: async (ctx, { serviceId, actionId }, failure) => {
    const order = await requireOrder(ctx, serviceId);
    await endAction(ctx, actionOf(order.organizationId, serviceId, actionId), inWords(failure));
  },
});

function inWords({ code }: Failure) {
  if (code === notWanted)
    return { code, message: 'The order was refunded or cancelled, so no machine was made' };
  return { code, message: 'The machine could not be made; our staff has been told' };
}

/** Ends the action, also when it was never opened, or had ended because the job was stuck. */
async function endAction(
  ctx: TxContext,
  action: ReturnType<typeof actionOf>,
  error: { code: string; message: string } | null,
): Promise<void> {
  await openSystemAction(ctx, action);
  await finishAction(ctx, action, error);
}
