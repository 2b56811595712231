import {
  type Context,
  fail,
  type OrganizationContext,
  requireRow,
  type TxContext,
} from '../../platform/index.ts';
import { type ExistingVps, requestAction } from '../actions/act.ts';
import { viewAction } from '../actions/history.ts';
import { requireCapability } from '../capabilities.ts';
import { lockOwnVps, requireVps } from '../queries.ts';
import { accessToRestore } from './access.ts';
import { requireBackupsImage } from './backupImage.ts';
import { type Kept, lockRow, oneSnapshot, setSnapshot, snapshotsOf, writeSnapshot } from './rows.ts';
import { snapshotJobs } from './sagas.ts';

const snapshotLimit = 5;

/** How the names of nightly backups begin. They share one list with the customer's, who may not use it. */
export const backupPrefix = 'backup-';

/** The snapshots of a machine, newest first, its nightly backups among them. */
export async function listSnapshots(ctx: OrganizationContext, id: number) {
  await requireVps(ctx, id);
  const rows = await ctx.db.many(snapshotsOf, { serviceId: id });
  return { snapshots: rows, limit: snapshotLimit };
}

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
    const known = await tx.db.many(snapshotsOf, { serviceId: id });
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

export async function deleteSnapshot(ctx: OrganizationContext, id: number, name: string) {
  const action = await requestAction(ctx, id, snapshotJobs.delete_snapshot, async (tx) => {
    const { kind } = await requireSnapshot(tx, id, name);
    await tx.db.run(setSnapshot, { serviceId: id, name, state: 'deleting', sizeBytes: null });
    return { name, kind };
  });
  return { action: viewAction(ctx, action) };
}

/**
 * Brings the disk back; the machine is stopped for it and started again when it was running. Keys and passwords come back
 * with it; with `keep_keys` the keys of today are put back once it runs.
 */
export async function restoreSnapshot(
  ctx: OrganizationContext,
  id: number,
  name: string,
  { keep_keys: keepKeys = false }: { keep_keys?: boolean },
) {
  const action = await requestAction(ctx, id, snapshotJobs.restore_snapshot, async (tx, vps) => {
    const snapshot = await requireSnapshot(tx, id, name);
    const { kind, state } = snapshot;
    requireCapability(vps, kind === 'backup' ? 'backups' : 'snapshots');
    if (state !== 'ready')
      throw fail('conflict', { message: `The snapshot ${name} is ${state}, so it cannot be restored` });
    const image = await imageToBringBack(tx, snapshot, vps);
    if (keepKeys && vps.wanted !== 'running') {
      throw fail('action_not_allowed', {
        message:
          'The machine is stopped, so its keys can only be put back later: restore it without keep_keys',
      });
    }
    const access = await accessToRestore(tx, vps, name, keepKeys);
    await tx.db.run(setSnapshot, { serviceId: id, name, state: 'restoring', sizeBytes: null });
    return { name, kind, image, ...access };
  });
  return { action: viewAction(ctx, action) };
}

async function requireSnapshot(ctx: Context, serviceId: number, name: string): Promise<Kept> {
  const snapshot = await ctx.db.maybe(oneSnapshot, { serviceId, name });
  if (snapshot === null) throw fail('not_found', { message: `There is no snapshot called ${name}` });
  return snapshot;
}

/** A backup outlives reinstalls, and its disk starts with the kernel of the image that it was made from alone. */
async function imageToBringBack(ctx: Context, { image }: Kept, vps: ExistingVps): Promise<string | null> {
  if (image === null || image === vps.image) return null;
  return (await requireBackupsImage(ctx, image)).slug;
}
