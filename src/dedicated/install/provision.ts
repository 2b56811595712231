import { sshKeysOf } from '../../account/index.ts';
import {
  askNow,
  closeAssignment,
  findAssignment,
  holdAnotherServer,
  listAddresses,
  openAssignment,
  rentServer,
  requireServerOff,
  reserveAddresses,
  type ServerChoice,
  serverOfService,
  setServerAside,
} from '../../fleet/index.ts';
import {
  AppError,
  enqueue,
  type Failure,
  type Run,
  type Step,
  saga,
  type TxContext,
} from '../../platform/index.ts';
import {
  choiceOf,
  completeDelivery,
  dedicatedOptions,
  failDelivery,
  hashServerPassword,
  lockServicesOf,
  markProvisioning,
  type Order,
  openPassword,
  requireOrder,
  requireWanted,
} from '../../services/index.ts';
import { ownPassword } from '../credentials/keep.ts';
import { isServersFault, unfit } from '../faults.ts';
import { giveBackAddresses } from '../giveBackAddresses.ts';
import { passwordStep, type WithPassword } from '../password.ts';
import { placeOn } from '../placeOn.ts';
import { hostnameOf } from '../queries.ts';
import { soldSpeed } from '../soldSpeed.ts';
import { callOff, disarmIfHeard, leaveOff, openedAt, requireGreeting, serverIn, stages } from '../stages.ts';
import { holdStillIts, requireCompared, requireStillIts } from '../stillIts.ts';

interface Payload {
  serviceId: number;
  /** The server before was out of order: there is no third. */
  isSecond: boolean;
}

interface State extends WithPassword {
  /** When it was to start what was installed. */
  installedAt: string;
}

type ProvisionStep = Step<Payload, State>;

const openStep: ProvisionStep = {
  name: 'open',
  transactional: true,
  do: async ({ ctx, payload }) => markProvisioning(ctx, payload.serviceId),
};

// The order has held it since checkout; after a failure it was given back, and one is held anew.
const pickStep: ProvisionStep = {
  name: 'pick',
  transactional: true,
  do: async ({ ctx, payload: { serviceId } }) => {
    const held = await serverOfService(ctx, serviceId);
    if (held !== null) return { serverId: held.id };
    return holdAnotherServer(ctx, serviceId, wantedOf(await requireOrder(ctx, serviceId)));
  },
};

// Before anything is planned: a plan answers whoever starts from the network.
const lookStep: ProvisionStep = {
  name: 'look',
  do: async (run) => {
    const serverId = serverIn(run.state);
    await requireStillIts(run.ctx, run.payload.serviceId, serverId);
    // Staff that retries a job which a restore holds has looked.
    if (run.isHeld) return requireServerOff(run, serverId);
    const server = await serverOfService(run.ctx, run.payload.serviceId);
    if (server !== null) await requireCompared(run.ctx, server);
  },
};

const addressStep: ProvisionStep = {
  name: 'addresses',
  transactional: true,
  do: async ({ ctx, payload: { serviceId } }) => {
    if ((await listAddresses(ctx, serviceId)).length > 0) return;
    const order = await requireOrder(ctx, serviceId);
    const location = (await serverOfService(ctx, serviceId))?.location;
    if (location == null)
      throw unfit('the server stands in no rack, so no address is known that it could have');
    const { ipv4Count, ipv6Count } = dedicatedOptions.read(order.options);
    await reserveAddresses(ctx, order.organizationId, [{ id: serviceId, location, ipv4Count, ipv6Count }]);
  },
};

/** What the installer is to do stands in the database from here on, with whom the server is to let in, sealed. */
const planStep: ProvisionStep = {
  name: 'plan',
  transactional: true,
  do: async ({ ctx, payload: { serviceId }, state }) => {
    const serverId = serverIn(state);
    await holdStillIts(ctx, serviceId, serverId);
    const order = await requireOrder(ctx, serviceId);
    const { os } = dedicatedOptions.read(order.options);
    const { disks, system, layout } = await placeOn(ctx, serverId, os);
    const keys = (await sshKeysOf(ctx, order.userId)).map((key) => key.publicKey);
    const given = await openPassword(ctx, serviceId);
    // Somebody has to get in.
    const isMade = given === null && keys.length === 0;
    const password = isMade ? await ownPassword(ctx, serviceId, order.organizationId) : given;
    const addresses = await listAddresses(ctx, serviceId);
    const assignmentId = await openAssignment(
      ctx,
      serverId,
      {
        task: 'install',
        // All of them: whoever had the server before may have written to any.
        wipe: disks.map(({ serial }) => serial),
        layout,
        identity: {
          hostname: hostnameOf(serviceId, order.domain),
          keys,
          passwordHash: password === null ? null : hashServerPassword(password),
          addresses: addresses.map(({ family, address, prefix, gateway }) => ({
            family,
            address,
            prefix,
            gateway,
          })),
          userData: null,
        },
      },
      system,
    );
    return { assignmentId };
  },
  undo: callOff,
};

/** The service is to be delivered still, on the server that this job has. */
async function requireGoing({ ctx, payload, state }: Run<Payload, State>): Promise<void> {
  await requireWanted(ctx, payload.serviceId);
  await requireStillIts(ctx, payload.serviceId, serverIn(state));
}

const carryingOut = stages<Payload, State>({
  before: requireGoing,
  undoPower: (run) => leaveOff(run, (tx, serverId) => giveBackAddresses(tx, run.payload.serviceId, serverId)),
  last: { name: 'install', ended: ({ ctx }) => ({ installedAt: ctx.clock.now().toISOString() }) },
});

const readyStep: ProvisionStep = {
  name: 'ready',
  do: async (run) => {
    const { ctx, payload, state } = run;
    await requireGoing(run);
    const [first] = await listAddresses(ctx, payload.serviceId);
    if (first === undefined) return; // nobody ordered one, and so nobody hears it
    await requireGreeting(run, first.address, new Date(state.installedAt ?? 0), 'what was installed').catch(
      async (error: Error & { code?: string }) => {
        const assignment =
          state.assignmentId === undefined ? null : await findAssignment(ctx, state.assignmentId);
        if (error.code !== 'server_unfit' || assignment?.disk_image == null) throw error;
        // What an image of others makes of a server says nothing of the server: the next one would go the same way.
        const message = `${assignment.disk_image.slug}: ${error.message}`;
        throw Object.assign(new Error(message), { code: 'image_unusable', permanent: true });
      },
    );
  },
};

const disarmStep: ProvisionStep = {
  name: 'disarm',
  do: async (run) => {
    await requireStillIts(run.ctx, run.payload.serviceId, serverIn(run.state));
    await disarmIfHeard(run);
  },
};

/** The service is its customer's from here on; a refund that came before takes the server back instead. */
const deliverStep: ProvisionStep = {
  name: 'deliver',
  transactional: true,
  do: async ({ ctx, payload: { serviceId }, state }) => {
    const { assignmentId } = state;
    const order = await requireOrder(ctx, serviceId);
    const primaryIp = (await listAddresses(ctx, serviceId))[0]?.address ?? null;
    await completeDelivery(ctx, order, { hostname: order.domain, primaryIp });
    await holdStillIts(ctx, serviceId, serverIn(state));
    await rentServer(ctx, serviceId);
    // Of its power nothing was heard since it was installed.
    await askNow(ctx, serverIn(state));
    if (assignmentId !== undefined) await closeAssignment(ctx, assignmentId);
  },
};

/**
 * From a paid order to a server that greets: its disks are wiped, a system is installed, and it is its customer's once it greets. A server that is out of order is
 * set aside, and another is taken, once.
 */
export const provision = saga<Payload, State>({
  name: 'dedicated.provision',
  queue: 'racks',
  // Its server and addresses were given back, and may be somebody else's for a while.
  outages: ['insufficient_stock'],
  steps: [
    ...[openStep, pickStep, lookStep, addressStep, planStep],
    passwordStep<Payload, State>(openedAt, requireGoing),
    ...carryingOut,
    ...[readyStep, disarmStep, deliverStep],
  ],
  failed: async (tx, payload, failure) => {
    const { serviceId } = payload;
    const order = await requireOrder(tx, serviceId);
    const services = await lockServicesOf(tx, order.invoiceId);
    // Tried again late: what it has is its customer's.
    const isDelivered = services.some(
      ({ id, provisioningState: state }) => id === serviceId && state === 'done',
    );
    if (isDelivered) return 'unwanted';
    if (isServersFault(failure) && (await takeAnother(tx, order, payload, failure))) return 'unwanted';
    await giveBackAddresses(tx, serviceId);
    return failDelivery(tx, serviceId, `${failure.step}: ${failure.message}`);
  },
});

/**
 * Keeps the server out of stock, and goes on with another one where there is one: of the same place with the same addresses, else, of an order that names no
 * place, with addresses of where it stands. False: the order cannot go on.
 */
async function takeAnother(
  tx: TxContext,
  order: Order,
  { serviceId, isSecond }: Payload,
  { message }: Failure,
): Promise<boolean> {
  const server = await serverOfService(tx, serviceId);
  if (server !== null) await setServerAside(tx, server.id, `it could not be installed: ${message}`);
  // Somebody else has taken it: it may use its addresses for as long as it runs.
  else await giveBackAddresses(tx, serviceId);
  if (isSecond || order.status !== 'pending') return false;
  const ordered = wantedOf(order);
  const choice = { ...ordered, portMbps: soldSpeed(ordered, server) };
  const there = server?.location ?? null;
  const held =
    (await holdIfThere(tx, serviceId, { ...choice, location: choice.location ?? there })) ??
    (choice.location === null && there !== null ? await holdIfThere(tx, serviceId, choice) : null);
  if (held === null) return false;
  if (there !== null && held.location !== there) await giveBackAddresses(tx, serviceId);
  await enqueue(tx, provision, { serviceId, isSecond: true }, { organizationId: order.organizationId });
  return true;
}

async function holdIfThere(tx: TxContext, serviceId: number, choice: ServerChoice) {
  try {
    return await holdAnotherServer(tx, serviceId, choice);
  } catch (error) {
    if (error instanceof AppError && error.code === 'insufficient_stock') return null;
    throw error;
  }
}

function wantedOf({ productId, options }: Order) {
  return choiceOf({ productId, options: dedicatedOptions.read(options) });
}
