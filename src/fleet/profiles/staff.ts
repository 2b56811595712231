import { record } from '../../events/index.ts';
import { type ListRequest, listData, pagedList } from '../../platform/http/index.ts';
import {
  type Context,
  fail,
  isDuplicate,
  refuse,
  requireRow,
  statement,
  type TxContext,
  transaction,
} from '../../platform/index.ts';
import type { Baseline } from '../baselines/compare.ts';
import { writeBaseline } from '../baselines/keep.ts';
import { wholeBaseline } from '../baselines/whole.ts';
import { profileCreated, profileDeleted, profileUpdated } from '../events.ts';
import { unlessSoldNoMore } from './fallOut.ts';
import { type DiskRule, type Rules, saidBy } from './fit.ts';
import { fitAll } from './keep.ts';
import { findAsked, unorderable } from './orderable.ts';

interface ProfileRow extends Rules, SoldAs {
  baseline: Baseline | null;
  baseline_from: string | null;
  baseline_at: Date | null;
  id: number;
  name: string;
  product: string | null;
  note: string | null;
  servers: number;
  ready: number;
  created_at: Date;
}

interface SoldAs {
  /** Servers that have it are the stock of this product; null: of none. */
  product_id: number | null;
}

export interface NewProfile extends Partial<Rules>, Partial<SoldAs> {
  name: string;
  note?: string | null;
  /** How servers of it have to be beside what they have, by hand; null: nothing is compared. */
  baseline?: Partial<Baseline> | null;
}

export type ProfileChange = Partial<NewProfile>;

/** The name of the profile, typed by whoever means that servers are sold as what they were no more. */
interface Confirmed {
  confirm?: string | undefined;
}

type Written = Omit<Rules, 'disks' | 'memory_gib' | 'port_mbps'> & {
  name: string;
  note: string | null;
  memoryGib: number | null;
  portMbps: number | null;
  disks: string | null;
  productId: number | null;
};

const selectProfile = `
  select t.id, t.name, t.threads, t.memory_gib, t.model, t.disks, t.port_mbps, t.note, t.created_at, t.product_id, p.name as product,
    t.baseline, t.baseline_from, t.baseline_at,
    (select count(*)::int from servers s where s.profile_id = t.id and s.state <> 'retired') as servers,
    (select count(*)::int from servers s where s.profile_id = t.id and s.state = 'ready') as ready
  from server_profiles t left join products p on p.id = t.product_id`;
const profileById = statement<ProfileRow, { id: number }>(
  'fleet.serverProfile',
  `${selectProfile} where t.id = :id`,
);
const insertProfile = statement<{ id: number }, Written & { now: Date }>(
  'fleet.insertServerProfile',
  `insert into server_profiles (name, threads, memory_gib, model, disks, port_mbps, note, product_id, created_at)
   values (:name, :threads::integer, :memoryGib::integer, :model::text, :disks::jsonb, :portMbps::integer, :note::text, :productId::bigint, :now) returning id`,
);
const updateProfile = statement<never, Written & { id: number }>(
  'fleet.updateServerProfile',
  `update server_profiles set name = :name, threads = :threads::integer, memory_gib = :memoryGib::integer, model = :model::text,
     disks = :disks::jsonb, port_mbps = :portMbps::integer, note = :note::text, product_id = :productId::bigint where id = :id`,
);
const deleteProfile = statement<never, { id: number }>(
  'fleet.deleteServerProfile',
  'delete from server_profiles where id = :id',
);
const leave = statement<never, { id: number }>(
  'fleet.leaveServerProfile',
  'update servers set profile_id = null where profile_id = :id',
);

const profiles = pagedList<ProfileRow>({
  name: 'fleet.serverProfiles',
  from: 'server_profiles t',
  select: selectProfile,
  filters: {},
  key: { by: 't.id', type: 'bigint', of: (row) => row.id },
  sorts: { id: null, name: { by: 't.name', type: 'text', of: (row) => row.name } },
  order: 'name',
});

export async function listProfiles(ctx: Context, query: ListRequest) {
  const { rows, at } = await profiles(ctx, query, {});
  return listData('profiles', rows, at);
}

export async function readProfile(ctx: Context, id: number) {
  return { profile: await requireRow(ctx, profileById, { id }) };
}

/**
 * Adds a profile, which every server that fits it best has from then on. `conflict` when there is one of its name, and while nobody has confirmed that servers are sold as
 * something else by it, or as nothing.
 */
export async function addProfile(ctx: Context, { confirm, ...wanted }: NewProfile & Confirmed) {
  const values = writtenOf({
    ...{ threads: null, memory_gib: null, model: null, disks: null, port_mbps: null },
    ...{ note: null, product_id: null },
    ...wanted,
  });
  return transaction(ctx, 'fleet.addServerProfile', async (tx) => {
    await lockProfiles(tx);
    await requireSoldWhole(tx, values);
    const saysSpeed = values.portMbps !== null;
    const id = await unlessSoldNoMore(tx, { name: values.name, confirm, saysSpeed }, async () => {
      const added = await named(values.name, () =>
        tx.db.one(insertProfile, { ...values, now: tx.clock.now() }),
      );
      await fitAll(tx);
      return added.id;
    });
    if (wanted.baseline) await writeBaseline(tx, id, wholeBaseline(wanted.baseline));
    const { name, note: _, baseline: __, ...rules } = wanted;
    await record(tx, profileCreated, { ...about(id), data: { name, rules } });
    return readProfile(tx, id);
  });
}

/** Changes what is said of a profile; servers are held against it anew. Errors as {@link addProfile}. */
export async function changeProfile(
  ctx: Context,
  id: number,
  { confirm, ...change }: ProfileChange & Confirmed,
) {
  return transaction(ctx, 'fleet.changeServerProfile', async (tx) => {
    await lockProfiles(tx);
    const { profile } = await readProfile(tx, id);
    const values = writtenOf({ ...profile, ...change });
    await requireSoldWhole(tx, values);
    const saysSpeed = values.portMbps !== null;
    await unlessSoldNoMore(tx, { name: profile.name, confirm, saysSpeed }, async () => {
      await named(values.name, () => tx.db.run(updateProfile, { id, ...values }));
      await fitAll(tx);
    });
    const { baseline, ...rest } = change;
    if (baseline !== undefined) await writeBaseline(tx, id, baseline && wholeBaseline(baseline));
    const another = baseline === null ? null : ('another' as const);
    const told = { ...rest, ...(baseline !== undefined && { baseline: another }) };
    await record(tx, profileUpdated, { ...about(id), data: { name: profile.name, change: told } });
    return readProfile(tx, id);
  });
}

/** Forgets a profile: servers that had it have another that they fit, or none. `conflict` while nobody has confirmed that they are sold as what they were no more. */
export async function removeProfile(ctx: Context, id: number, { confirm }: Confirmed = {}) {
  return transaction(ctx, 'fleet.removeServerProfile', async (tx) => {
    await lockProfiles(tx);
    const { profile } = await readProfile(tx, id);
    await unlessSoldNoMore(tx, { name: profile.name, confirm }, async () => {
      await tx.db.run(leave, { id });
      await tx.db.run(deleteProfile, { id });
      await fitAll(tx);
    });
    await record(tx, profileDeleted, { ...about(id), data: { name: profile.name } });
    return {};
  });
}

/** `moduleId` of what may be sold out of the rack (contract §2). */
export const dedicatedModule = 5;

const lockAll = statement<{ locked: 1 }>(
  'fleet.lockServerProfiles',
  `select 1 as locked from pg_advisory_xact_lock(hashtextextended('server_profiles', 0))`,
);

/** Nobody changes a profile, or holds a server against them, until the transaction ends. */
export async function lockProfiles(tx: TxContext): Promise<void> {
  await tx.db.one(lockAll);
}

/** Only what is sold as a server of its own can have servers as its stock; and where it is for sale, these have to be servers that somebody can order. */
async function requireSoldWhole(
  tx: TxContext,
  { productId, memoryGib, disks, portMbps }: Pick<Written, 'productId' | 'memoryGib' | 'disks' | 'portMbps'>,
): Promise<void> {
  if (productId === null) return;
  const product = await findAsked(tx, productId);
  if (product === null) throw refuse('product_id', 'is no product');
  if (product.module_id !== dedicatedModule)
    throw refuse('product_id', `is ${product.name}, which is not sold as a dedicated server`);
  if (product.status !== 'active') return;
  if (!product.options.some(({ key }) => key === 'option6'))
    throw refuse(
      'product_id',
      `is ${product.name}, which is for sale and asks nobody for a system (option6)`,
    );
  const said = { memoryGb: memoryGib, storageGb: storageOf(disks), portMbps, choosesPort: false };
  const [wrong] = unorderable(product.options, said);
  if (wrong !== undefined) throw refuse('product_id', `is ${product.name}: ${wrong}`);
}

function storageOf(disks: string | null): number | null {
  if (disks === null) return null;
  return (JSON.parse(disks) as DiskRule[]).reduce((sum, { gb, count }) => sum + gb * count, 0);
}

function writtenOf({
  name,
  note = null,
  product_id: productId,
  ...rules
}: Rules & SoldAs & { name: string; note?: string | null }): Written {
  const { threads, memory_gib: memoryGib, model, disks, port_mbps: portMbps } = rules;
  if (saidBy(rules) === 0)
    throw refuse('threads', 'or another rule must be given: what fits every server says of none what it is');
  const each = (disks ?? []).map(({ kind, gb }) => `${kind} ${gb}`);
  if (new Set(each).size !== each.length)
    throw refuse('disks', 'must name each kind and size once, with how many there are');
  return {
    name,
    note,
    productId,
    threads,
    memoryGib,
    model,
    portMbps,
    disks: disks && JSON.stringify(disks),
  };
}

async function named<T>(name: string, write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    if (!isDuplicate(error, 'server_profiles_name')) throw error;
    throw fail('conflict', { message: `There is a profile called ${name} already`, cause: error });
  }
}

export function about(id: number) {
  return { subject: { type: 'server_profile', id }, organizationId: null };
}
