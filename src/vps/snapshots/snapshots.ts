import { record } from '../../events/index.ts';
import { findImage, type Image, resizeCopies } from '../../fleet/index.ts';
import {
  type AnySaga,
  type Context,
  causesOf,
  fail,
  type OrganizationContext,
  type Run,
  requireRow,
  statement,
  type TxContext,
  transaction,
} from '../../platform/index.ts';
import { actionSaga, type ExistingVps, requestAction, withMachine } from '../actions/act.ts';
import { requireNoStop, startUnlessToStop } from '../actions/forcedStop.ts';
import { noteAction, viewAction } from '../actions/history.ts';
import { type ActionPayload, actionJob } from '../actions/job.ts';
import { requireCapability } from '../capabilities.ts';
import { copyInconsistent } from '../events.ts';
import { ensureImage } from '../install/ensureImage.ts';
import { startMachine, stopAnyway } from '../power.ts';
import { lockOwnVps, requireVps } from '../queries.ts';
import { accessToRestore, type CopiedAccess, noteOnAccess, putKeysBack, showKeptAccess } from './access.ts';

export const snapshotLimit = 5;

/** How the names of nightly backups begin. They share one list with the customer's, who may not use it. */
export const backupPrefix = 'backup-';

type Kind = 'snapshot' | 'backup';

interface SnapshotRow {
  name: string;
  kind: Kind;
  description: string | null;
  state: 'creating' | 'ready' | 'restoring' | 'deleting' | 'error';
  size_bytes: number | null;
  parent: string | null;
  created_at: Date;
}

interface Kept extends SnapshotRow {
  /** The machine's image when it was kept; null when nobody wrote it down. */
  image: string | null;
}

const columns = 'name, kind, description, state, size_bytes, parent, created_at';

const snapshotsOf = statement<SnapshotRow, { serviceId: number }>(
  'vps.snapshots',
  `select ${columns} from vps_snapshots where service_id = :serviceId order by created_at desc, name`,
);
const oneSnapshot = statement<Kept, { serviceId: number; name: string }>(
  'vps.snapshot',
  `select ${columns}, image from vps_snapshots where service_id = :serviceId and name = :name`,
);
// Its parent is the newest one that was ready: what the disk was last kept as.
const insertSnapshot = statement<
  never,
  {
    serviceId: number;
    organizationId: number;
    name: string;
    kind: 'snapshot' | 'backup';
    description: string | null;
    now: Date;
  }
>(
  'vps.insertSnapshot',
  `insert into vps_snapshots (service_id, organization_id, name, kind, description, state, parent, created_at, image,
     promised_gib, access)
   values (:serviceId, :organizationId, :name, :kind, :description, 'creating',
     (select name from vps_snapshots where service_id = :serviceId and kind = :kind and state = 'ready'
      order by created_at desc limit 1), :now, (select image from machines where service_id = :serviceId),
     coalesce((select disk_gib from machines where service_id = :serviceId), 0),
     (select coalesce(jsonb_agg(jsonb_build_object('id', ssh_key_id, 'name', name, 'fingerprint', fingerprint,
        'public_key', public_key)), '[]') from vps_access where service_id = :serviceId))`,
);
const setSnapshot = statement<
  never,
  {
    serviceId: number;
    name: string;
    state: 'restoring' | 'deleting' | 'error' | 'ready';
    sizeBytes: number | null;
  }
>(
  'vps.setSnapshot',
  `update vps_snapshots set state = :state, size_bytes = coalesce(:sizeBytes, size_bytes)
     where service_id = :serviceId and name = :name`,
);
const deleteRow = statement<never, { serviceId: number; name: string }>(
  'vps.deleteSnapshot',
  'delete from vps_snapshots where service_id = :serviceId and name = :name',
);

const promisedTo = statement<{ gib: number }, { serviceId: number }>(
  'vps.promisedToCopies',
  'select coalesce(sum(promised_gib), 0)::int as gib from vps_snapshots where service_id = :serviceId',
);

const setImage = statement<never, { serviceId: number; image: string }>(
  'vps.setImage',
  'update machines set image = :image where service_id = :serviceId',
);

/** The snapshots of a machine, newest first, its nightly backups among them. */
export async function listSnapshots(ctx: OrganizationContext, id: number) {
  await requireVps(ctx, id);
  const rows = await ctx.db.many(snapshotsOf, { serviceId: id });
  return { snapshots: rows, limit: snapshotLimit };
}

const lockRow = statement<never, { serviceId: number; name: string }>(
  'vps.lockSnapshot',
  'select name from vps_snapshots where service_id = :serviceId and name = :name for update',
);

/** One of them; `not_found`. */
export async function readSnapshot(ctx: OrganizationContext, id: number, name: string) {
  await requireVps(ctx, id);
  const { image: _, ...snapshot } = await requireRow(ctx, oneSnapshot, { serviceId: id, name });
  return { snapshot };
}

/** Nobody changes the machine or this copy of it until the transaction ends. */
export async function lockSnapshot(
  tx: OrganizationContext & TxContext,
  id: number,
  name: string,
): Promise<void> {
  if (await lockOwnVps(tx, id)) await tx.db.maybe(lockRow, { serviceId: id, name });
}

interface Payload extends ActionPayload, CopiedAccess {
  name: string;
  kind: Kind;
  /** The image that a restore brings back; null when it is the one that the machine has. */
  image?: string | null;
}

export const snapshotJobs = {
  create_snapshot: actionJob<Payload>('create_snapshot'),
  create_backup: actionJob<Payload>('create_backup'),
  delete_snapshot: actionJob<Payload>('delete_snapshot'),
  restore_snapshot: actionJob<Payload>('restore_snapshot'),
};

/**
 * Keeps the disk as it is now. `invalid_request` for a name that belongs to the nightly backups, `conflict` for one
 * that is taken, `too_many` over the limit, `no_space` where its node has no room for it.
 */
export async function createSnapshot(
  ctx: OrganizationContext,
  id: number,
  body: { name: string; description?: string },
) {
  if (body.name.startsWith(backupPrefix)) {
    const message = `must not begin with ${backupPrefix}: the nightly backups are called so`;
    throw fail('invalid_request', { details: [{ field: 'name', message }] });
  }
  const action = await requestAction(ctx, id, snapshotJobs.create_snapshot, async (tx, vps) => {
    const known = (await tx.db.many(snapshotsOf, { serviceId: id })) ?? [];
    if (known.some((snapshot) => snapshot.name === body.name)) {
      throw fail('conflict', {
        message: `There is a snapshot called ${body.name} already; choose another name or delete it`,
      });
    }
    if (known.filter((snapshot) => snapshot.kind === 'snapshot').length >= snapshotLimit) {
      throw fail('too_many', { message: `A machine keeps ${snapshotLimit} snapshots; delete one first` });
    }
    await writeSnapshot(tx, vps.organization_id, id, body.name, 'snapshot', body.description ?? null);
    return { name: body.name, kind: 'snapshot' as const };
  });
  return { action: viewAction(ctx, action) };
}

/** Writes a snapshot or backup down before it is made, and holds all the room that it may come to take: `no_space`. */
export async function writeSnapshot(
  ctx: TxContext,
  organizationId: number,
  serviceId: number,
  name: string,
  kind: Kind,
  description: string | null,
): Promise<void> {
  await ctx.db.run(insertSnapshot, {
    serviceId,
    organizationId,
    name,
    kind,
    description,
    now: ctx.clock.now(),
  });
  await holdCopies(ctx, serviceId);
}

/** Holds room on the node for the copies that a machine has, whatever it held before. */
export async function holdCopies(ctx: TxContext, serviceId: number): Promise<void> {
  const { gib } = await ctx.db.one(promisedTo, { serviceId });
  await resizeCopies(ctx, serviceId, gib);
}

async function forgetCopy(ctx: TxContext, { serviceId, name }: Payload): Promise<void> {
  await ctx.db.run(deleteRow, { serviceId, name });
  await holdCopies(ctx, serviceId);
}

export async function deleteSnapshot(ctx: OrganizationContext, id: number, name: string) {
  return change(ctx, id, name, 'delete_snapshot', 'deleting');
}

/**
 * Brings the disk back; the machine is stopped for it and started again when it was running. Keys and passwords come back
 * with it; with `keep_keys` the keys of today are put back once it runs.
 */
export async function restoreSnapshot(
  ctx: OrganizationContext,
  id: number,
  name: string,
  body: { keep_keys?: boolean },
) {
  return change(ctx, id, name, 'restore_snapshot', 'restoring', body.keep_keys ?? false);
}

async function change(
  ctx: OrganizationContext,
  id: number,
  name: string,
  command: 'delete_snapshot' | 'restore_snapshot',
  state: 'deleting' | 'restoring',
  keepKeys = false,
) {
  const action = await requestAction(ctx, id, snapshotJobs[command], async (tx, vps) => {
    const snapshot = await tx.db.maybe(oneSnapshot, { serviceId: id, name });
    if (snapshot === null) throw fail('not_found', { message: `There is no snapshot called ${name}` });
    if (command === 'restore_snapshot')
      requireCapability(vps, snapshot.kind === 'backup' ? 'backups' : 'snapshots');
    if (command === 'restore_snapshot' && snapshot.state !== 'ready') {
      throw fail('conflict', {
        message: `The snapshot ${name} is ${snapshot.state}, so it cannot be restored`,
      });
    }
    const image = command === 'restore_snapshot' ? await imageToBringBack(tx, snapshot, vps) : null;
    if (keepKeys && vps.wanted !== 'running') {
      throw fail('action_not_allowed', {
        message:
          'The machine is stopped, so its keys can only be put back later: restore it without keep_keys',
      });
    }
    const access = command === 'restore_snapshot' ? await accessToRestore(tx, vps, name, keepKeys) : {};
    await tx.db.run(setSnapshot, { serviceId: id, name, state, sizeBytes: null });
    return { name, kind: snapshot.kind, image, ...access };
  });
  return { action: viewAction(ctx, action) };
}

/** A backup outlives reinstalls, and its disk starts with the kernel of the image that it was made from alone. */
async function imageToBringBack(ctx: Context, { image }: Kept, vps: ExistingVps): Promise<string | null> {
  if (image === null || image === vps.image) return null;
  return (await requireBackupsImage(ctx, image)).slug;
}

async function requireBackupsImage(ctx: Context, slug: string): Promise<Image> {
  const image = await findImage(ctx, slug);
  if (image !== null) return image;
  const message = `This backup starts with the operating-system image ${slug}, which is no longer there`;
  throw Object.assign(fail('conflict', { message }), { permanent: true });
}

type SnapshotRun = Run<Payload, object>;

export const snapshotSagas: AnySaga[] = [
  makingSaga('create_snapshot'),
  makingSaga('create_backup'),
  actionSaga(snapshotJobs.delete_snapshot, {
    steps: [{ name: 'delete', do: remove }],
    succeeded: forgetCopy,
    failed: async (ctx, { serviceId, name }) => {
      await ctx.db.run(setSnapshot, { serviceId, name, state: 'error', sizeBytes: null });
    },
    stuck: leaveInDoubt,
  }),
  actionSaga(snapshotJobs.restore_snapshot, {
    steps: [
      { name: 'image', do: prepareImage },
      {
        name: 'off',
        do: off,
        undo: startAgain,
      },
      { name: 'restore', do: restore },
      { name: 'system', do: bringImageBack },
      { name: 'access', do: showKeptAccess },
      { name: 'on', do: on },
      { name: 'keys', do: putKeysBack },
    ],
    succeeded: async (ctx, payload) => {
      const { serviceId, name, actionId } = payload;
      await ctx.db.run(setSnapshot, { serviceId, name, state: 'ready', sizeBytes: null });
      await noteAction(ctx, actionId, noteOnAccess(payload));
    },
    failed: async (ctx, { serviceId, name }) => {
      await ctx.db.run(setSnapshot, { serviceId, name, state: 'ready', sizeBytes: null });
    },
    stuck: async (ctx, { serviceId, name }) => {
      await ctx.db.run(setSnapshot, { serviceId, name, state: 'ready', sizeBytes: null });
    },
  }),
];

function makingSaga(command: 'create_snapshot' | 'create_backup'): AnySaga {
  return actionSaga(snapshotJobs[command], {
    queue: command === 'create_backup' ? 'bulk' : 'machine',
    steps: [
      { name: 'look', do: refuseAnother },
      { name: 'keep', do: make, undo: remove },
    ],
    failed: forgetCopy,
    stuck: leaveInDoubt,
  });
}

/** Nobody knows whether the copy is there: it can be deleted, and nothing else. */
async function leaveInDoubt(ctx: TxContext, { serviceId, name }: Payload): Promise<void> {
  await ctx.db.run(setSnapshot, { serviceId, name, state: 'error', sizeBytes: null });
}

/** A node's clock may be behind ours by so much. */
const clocksDifferByMs = 60_000;

/**
 * A copy of this name that is there before ours was begun is another one, of which the database knows nothing, as after it
 * was restored: to hand it out as the one of now would bring an old disk back one day. It is somebody's data, so it stays.
 * Once this step is written down, what is there of the name is what an earlier try of ours has left. One that was made since
 * it was asked for is ours as well: the version that began it may not have had this step.
 */
async function refuseAnother(run: SnapshotRun): Promise<void> {
  const { name, kind, serviceId } = run.payload;
  const there = await withMachine(run, (driver, spec) =>
    kind === 'backup' ? driver.listBackups(spec.id) : driver.listSnapshots(spec.id),
  );
  const other = there.find((each) => each.name === name);
  if (other === undefined) return;
  const ours = await run.ctx.db.maybe(oneSnapshot, { serviceId, name });
  if (ours !== null && other.createdAt.getTime() >= ours.created_at.getTime() - clocksDifferByMs) return;
  const made = other.createdAt.toISOString().slice(0, 16).replace('T', ' ');
  const message = `The node has a copy called ${name} already, made ${made} UTC, that is not in your list: the product's database was restored since. Choose another name, and ask our staff for that copy if you need it`;
  throw Object.assign(fail('conflict', { message }), { permanent: true });
}

async function make(run: SnapshotRun): Promise<void> {
  await requireNoStop(run);
  const { name, kind, serviceId } = run.payload;
  const facts = await withMachine(run, (driver, spec) =>
    kind === 'backup' ? driver.createBackup(spec.id, name) : driver.createSnapshot(spec.id, name),
  );
  await transaction(run.ctx, 'vps.kept', async (tx) => {
    await tx.db.run(setSnapshot, { serviceId, name, state: 'ready', sizeBytes: facts.sizeBytes });
    if (facts.consistent !== false) return;
    const { organizationId } = run.payload;
    await record(tx, copyInconsistent, {
      subject: { type: 'service', id: serviceId },
      organizationId,
      data: { name },
    });
  });
}

function remove(run: SnapshotRun): Promise<void> {
  const { name, kind } = run.payload;
  return withMachine(run, (driver, spec) =>
    kind === 'backup' ? driver.deleteBackup(spec.id, name) : driver.deleteSnapshot(spec.id, name),
  );
}

async function prepareImage(run: SnapshotRun): Promise<void> {
  if (!run.payload.image) return;
  const image = await requireBackupsImage(run.ctx, run.payload.image);
  await withMachine(run, (driver) => ensureImage(run, driver, image));
}

async function bringImageBack({ ctx, payload }: SnapshotRun): Promise<void> {
  if (payload.image) await ctx.db.run(setImage, { serviceId: payload.serviceId, image: payload.image });
}

// The contents are going to be replaced, so a guest that does not shut down loses its power.
async function off(run: SnapshotRun): Promise<void> {
  await requireNoStop(run);
  await withMachine(run, (driver, spec) => stopAnyway(driver, spec.id, run.signal));
}

function restore(run: SnapshotRun): Promise<void> {
  const { name, kind } = run.payload;
  return withMachine(run, (driver, spec) =>
    kind === 'backup' ? driver.restoreBackup(spec, name) : driver.restoreSnapshot(spec.id, name),
  );
}

/**
 * Gives the machine its power back when what it was taken for has failed. One that does not start is left to the next
 * comparison with the node: nothing else could be asked of it while this was tried again.
 */
export async function startAgain<P extends ActionPayload>(run: Run<P, object>): Promise<void> {
  if (run.payload.before.wanted !== 'running') return;
  await withMachine(run, async (driver, spec, machine) => {
    const start = () => startMachine(run.ctx, driver, spec, machine);
    await startUnlessToStop(run, driver, start).catch((error: Error) => {
      run.ctx.log.warn({ machine: spec.id, err: causesOf(error) }, 'a machine did not start again');
    });
  });
}

async function on(run: SnapshotRun): Promise<void> {
  if (run.payload.before.wanted !== 'running') return;
  await withMachine(run, (driver, spec, machine) =>
    startUnlessToStop(run, driver, () => startMachine(run.ctx, driver, spec, machine)),
  );
}
