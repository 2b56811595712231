import { resizeCopies } from '../../fleet/index.ts';
import { statement, type TxContext } from '../../platform/index.ts';

export type Kind = 'snapshot' | 'backup';

interface SnapshotRow {
  name: string;
  kind: Kind;
  description: string | null;
  state: 'creating' | 'ready' | 'restoring' | 'deleting' | 'error';
  size_bytes: number | null;
  parent: string | null;
  created_at: Date;
}

export interface Kept extends SnapshotRow {
  /** The machine's image when it was kept; null when nobody wrote it down. */
  image: string | null;
}

const columns = 'name, kind, description, state, size_bytes, parent, created_at';

export const snapshotsOf = statement<SnapshotRow, { serviceId: number }>(
  'vps.snapshots',
  `select ${columns} from vps_snapshots where service_id = :serviceId order by created_at desc, name`,
);
export const oneSnapshot = statement<Kept, { serviceId: number; name: string }>(
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
    kind: Kind;
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
export const setSnapshot = statement<
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
export const noteKeptOn = statement<never, { serviceId: number; name: string; member: string }>(
  'vps.noteKeptOn',
  `update vps_snapshots c set kept_on = at.id from machines m join nodes n on n.id = m.node_id
   join nodes at on at.cluster_id = n.cluster_id and at.member = :member
   where m.service_id = :serviceId and c.service_id = :serviceId and c.name = :name`,
);
const deleteRow = statement<never, { serviceId: number; name: string }>(
  'vps.deleteSnapshot',
  'delete from vps_snapshots where service_id = :serviceId and name = :name',
);
// Snapshots are layers of a disk; a copy that is not whole is of no use elsewhere.
export const forgetLayers = statement<never, { serviceId: number }>(
  'vps.forgetLayers',
  `delete from vps_snapshots where service_id = :serviceId and (kind = 'snapshot' or state <> 'ready')`,
);

const promisedTo = statement<{ gib: number }, { serviceId: number }>(
  'vps.promisedToCopies',
  'select coalesce(sum(promised_gib), 0)::int as gib from vps_snapshots where service_id = :serviceId',
);
export const lockRow = statement<never, { serviceId: number; name: string }>(
  'vps.lockSnapshot',
  'select name from vps_snapshots where service_id = :serviceId and name = :name for update',
);

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

/** Lets go of a copy that is no more, and of the room that was held for it. */
export async function forgetCopy(
  ctx: TxContext,
  { serviceId, name }: { serviceId: number; name: string },
): Promise<void> {
  await ctx.db.run(deleteRow, { serviceId, name });
  await holdCopies(ctx, serviceId);
}
