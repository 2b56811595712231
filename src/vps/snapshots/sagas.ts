import { record } from '../../events/index.ts';
import {
  type AnySaga,
  fail,
  type Run,
  statement,
  type TxContext,
  transaction,
} from '../../platform/index.ts';
import { requireNoStop, requireNotCancelled, startUnlessToStop } from '../actions/forcedStop.ts';
import { noteAction } from '../actions/history.ts';
import { type ActionPayload, actionJob } from '../actions/job.ts';
import { actionSaga, withMachine } from '../actions/saga.ts';
import { copyInconsistent } from '../events.ts';
import { requireLatestNow } from '../incarnations.ts';
import { ensureImage } from '../install/ensureImage.ts';
import { startAgain, startMachine, stopAnyway } from '../power.ts';
import { type CopiedAccess, noteOnAccess, putKeysBack, showKeptAccess } from './access.ts';
import { requireBackupsImage } from './backupImage.ts';
import { forgetCopy, type Kind, noteKeptOn, oneSnapshot, setSnapshot } from './rows.ts';

const setImage = statement<never, { serviceId: number; image: string }>(
  'vps.setImage',
  'update machines set image = :image where service_id = :serviceId',
);

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
  await requireNotCancelled(run);
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
  await requireNotCancelled(run); // its machine may have been made anew elsewhere since
  await requireNoStop(run);
  const { name, kind, serviceId } = run.payload;
  const facts = await withMachine(run, (driver, spec) =>
    kind === 'backup' ? driver.createBackup(spec.id, name) : driver.createSnapshot(spec.id, name),
  );
  await transaction(run.ctx, 'vps.kept', async (tx) => {
    await tx.db.run(setSnapshot, { serviceId, name, state: 'ready', sizeBytes: facts.sizeBytes });
    if (facts.node !== undefined) await tx.db.run(noteKeptOn, { serviceId, name, member: facts.node });
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
  await withMachine(run, async (driver, spec) => {
    await requireLatestNow(run.ctx, spec.id);
    await stopAnyway(driver, spec.id, run.signal);
  });
}

function restore(run: SnapshotRun): Promise<void> {
  const { name, kind } = run.payload;
  return withMachine(run, (driver, spec) =>
    kind === 'backup' ? driver.restoreBackup(spec, name) : driver.restoreSnapshot(spec.id, name),
  );
}

async function on(run: SnapshotRun): Promise<void> {
  if (run.payload.before.wanted !== 'running') return;
  await withMachine(run, (driver, spec, machine) =>
    startUnlessToStop(run, driver, () => startMachine(run.ctx, driver, spec, machine)),
  );
}
