import {
  type AnySaga,
  fail,
  type OrganizationContext,
  type Run,
  statement,
  type TxContext,
} from '../platform/index.ts';
import { type ActionPayload, actionSaga, requestAction, withMachine } from './act.ts';
import { viewAction } from './actions.ts';
import type { HypervisorOf } from './machine.ts';
import { stopMachine } from './power.ts';
import { findVpsFor } from './queries.ts';

export const snapshotLimit = 5;

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

const columns = 'name, kind, description, state, size_bytes, parent, created_at';

const snapshotsOf = statement<SnapshotRow>(
  'vps.snapshots',
  `select ${columns} from vps_snapshots where service_id = $1 order by created_at desc, name`,
);
const oneSnapshot = statement<SnapshotRow>(
  'vps.snapshot',
  `select ${columns} from vps_snapshots where service_id = $1 and name = $2`,
);
// Its parent is the newest one that was ready: what the disk was last kept as.
const insertSnapshot = statement(
  'vps.insertSnapshot',
  `insert into vps_snapshots (service_id, organization_id, name, kind, description, state, parent, created_at)
   values ($1, $2, $3, $4, $5, 'creating',
     (select name from vps_snapshots where service_id = $1 and kind = $4 and state = 'ready'
      order by created_at desc limit 1), $6)`,
);
const setSnapshot = statement(
  'vps.setSnapshot',
  `update vps_snapshots set state = $3, size_bytes = coalesce($4, size_bytes) where service_id = $1 and name = $2`,
);
const deleteRow = statement(
  'vps.deleteSnapshot',
  'delete from vps_snapshots where service_id = $1 and name = $2',
);

/** The snapshots of a machine, newest first, its nightly backups among them. */
export async function listSnapshots(ctx: OrganizationContext, id: number) {
  await findVpsFor(ctx, id);
  const rows = await ctx.db.many(snapshotsOf, id);
  return { snapshots: rows, limit: snapshotLimit };
}

interface Payload extends ActionPayload {
  name: string;
  kind: Kind;
}

/** Keeps the disk as it is now. `conflict` for a name that is taken, `too_many` over the limit. */
export async function createSnapshot(
  ctx: OrganizationContext,
  id: number,
  body: { name: string; description?: string },
) {
  const action = await requestAction(ctx, id, 'create_snapshot', async (tx, vps) => {
    const known = (await tx.db.many(snapshotsOf, id)) ?? [];
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
  return { action: viewAction(action) };
}

/** Writes a snapshot or backup down before it is made. */
export async function writeSnapshot(
  ctx: TxContext,
  organizationId: number,
  serviceId: number,
  name: string,
  kind: Kind,
  description: string | null,
): Promise<void> {
  await ctx.db.run(insertSnapshot, serviceId, organizationId, name, kind, description, ctx.clock.now());
}

export async function deleteSnapshot(ctx: OrganizationContext, id: number, name: string) {
  return change(ctx, id, name, 'delete_snapshot', 'deleting');
}

/** Brings the disk back; the machine is stopped for it and started again when it was running. */
export async function restoreSnapshot(ctx: OrganizationContext, id: number, name: string) {
  return change(ctx, id, name, 'restore_snapshot', 'restoring');
}

async function change(
  ctx: OrganizationContext,
  id: number,
  name: string,
  command: 'delete_snapshot' | 'restore_snapshot',
  state: 'deleting' | 'restoring',
) {
  const action = await requestAction(ctx, id, command, async (tx) => {
    const snapshot = await tx.db.maybe(oneSnapshot, id, name);
    if (snapshot === null) throw fail('not_found', { message: `There is no snapshot called ${name}` });
    if (command === 'restore_snapshot' && snapshot.state !== 'ready') {
      throw fail('conflict', {
        message: `The snapshot ${name} is ${snapshot.state}, so it cannot be restored`,
      });
    }
    await tx.db.run(setSnapshot, id, name, state, null);
    return { name, kind: snapshot.kind };
  });
  return { action: viewAction(action) };
}

type SnapshotRun = Run<Payload, object>;

export function snapshotSagas(hypervisorOf: HypervisorOf): AnySaga[] {
  return [
    makingSaga('create_snapshot', hypervisorOf),
    makingSaga('create_backup', hypervisorOf),
    actionSaga<Payload>({
      command: 'delete_snapshot',
      steps: [{ name: 'delete', action: (run) => remove(run, hypervisorOf) }],
      succeeded: async (ctx, { serviceId, name }) => {
        await ctx.db.run(deleteRow, serviceId, name);
      },
      failed: async (ctx, { serviceId, name }) => {
        await ctx.db.run(setSnapshot, serviceId, name, 'error', null);
      },
    }),
    actionSaga<Payload>({
      command: 'restore_snapshot',
      steps: [
        { name: 'off', action: (run) => off(run, hypervisorOf), undo: (run) => on(run, hypervisorOf) },
        { name: 'restore', action: (run) => restore(run, hypervisorOf) },
        { name: 'on', action: (run) => on(run, hypervisorOf) },
      ],
      succeeded: async (ctx, { serviceId, name }) => {
        await ctx.db.run(setSnapshot, serviceId, name, 'ready', null);
      },
      failed: async (ctx, { serviceId, name }) => {
        await ctx.db.run(setSnapshot, serviceId, name, 'ready', null);
      },
    }),
  ];
}

function makingSaga(command: 'create_snapshot' | 'create_backup', hypervisorOf: HypervisorOf): AnySaga {
  return actionSaga<Payload>({
    command,
    steps: [
      { name: 'keep', action: (run) => make(run, hypervisorOf), undo: (run) => remove(run, hypervisorOf) },
    ],
    failed: async (ctx, { serviceId, name }) => {
      await ctx.db.run(deleteRow, serviceId, name);
    },
  });
}

async function make(run: SnapshotRun, hypervisorOf: HypervisorOf): Promise<void> {
  const { name, kind, serviceId } = run.payload;
  const facts = await withMachine(run, hypervisorOf, (driver, spec) =>
    kind === 'backup' ? driver.createBackup(spec.id, name) : driver.createSnapshot(spec.id, name),
  );
  await run.ctx.db.run(setSnapshot, serviceId, name, 'ready', facts.sizeBytes);
}

function remove(run: SnapshotRun, hypervisorOf: HypervisorOf): Promise<void> {
  const { name, kind } = run.payload;
  return withMachine(run, hypervisorOf, (driver, spec) =>
    kind === 'backup' ? driver.deleteBackup(spec.id, name) : driver.deleteSnapshot(spec.id, name),
  );
}

// The contents are going to be replaced, so a guest that does not shut down loses its power.
function off(run: SnapshotRun, hypervisorOf: HypervisorOf): Promise<void> {
  return withMachine(run, hypervisorOf, async (driver, spec) => {
    await stopMachine(driver, spec.id, false, run.signal).catch(() => driver.powerOff(spec.id));
  });
}

function restore(run: SnapshotRun, hypervisorOf: HypervisorOf): Promise<void> {
  const { name, kind } = run.payload;
  return withMachine(run, hypervisorOf, (driver, spec) =>
    kind === 'backup' ? driver.restoreBackup(spec, name) : driver.restoreSnapshot(spec.id, name),
  );
}

async function on(run: SnapshotRun, hypervisorOf: HypervisorOf): Promise<void> {
  if (run.payload.before.wanted !== 'running') return;
  await withMachine(run, hypervisorOf, (driver, spec) => driver.start(spec));
}
