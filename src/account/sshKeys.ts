import { createHash, createPublicKey, type JsonWebKey } from 'node:crypto';
import sshpk from 'sshpk';
import { identityLimits, keysBytes } from '../drivers/hypervisor/index.ts';
import { record } from '../events/index.ts';
import { type ListRequest, listData, pagedList, requireLine } from '../platform/http/index.ts';
import {
  type AccountContext,
  type Context,
  fail,
  isDuplicate,
  newId,
  requireRow,
  statement,
  type TxContext,
  transaction,
} from '../platform/index.ts';
import { sshKeyCreated, sshKeyDeleted } from './events.ts';
import { lockUser } from './users.ts';

const keysPerAccount = 100;
const smallestRsaBits = 2048;
/** OpenSSH reads no larger numbers. */
const largestRsaBits = 16_384;

export interface SshKey {
  id: number;
  name: string;
  type: string;
  publicKey: string;
  fingerprint: string;
  createdAt: Date;
}

const selectKey = `
  select t.id, t.name, t.type, t.public_key as "publicKey", t.fingerprint, t.created_at as "createdAt"
  from ssh_keys t`;
const keysOfUser = statement<SshKey, { userId: number }>(
  'account.sshKeysOfUser',
  `${selectKey} where t.user_id = :userId order by t.created_at, t.id`,
);
const keys = pagedList<SshKey>({
  name: 'account.sshKeys',
  from: 'ssh_keys t',
  select: selectKey,
  within: 't.user_id = :userId',
  key: { by: 't.id', type: 'bigint', of: (row) => row.id },
  sorts: {
    created_at: {
      by: `date_trunc('milliseconds', t.created_at)`,
      type: 'timestamptz',
      of: (row) => row.createdAt.toISOString(),
    },
    name: { by: 't.name', type: 'text', of: (row) => row.name },
  },
  order: 'created_at',
});
const insertKey = statement<
  never,
  {
    id: number;
    userId: number;
    name: string;
    type: string;
    publicKey: string;
    fingerprint: string;
    createdAt: Date;
  }
>(
  'account.insertSshKey',
  `insert into ssh_keys (id, user_id, name, type, public_key, fingerprint, created_at)
   values (:id, :userId, :name, :type, :publicKey, :fingerprint, :createdAt)`,
);
const keysHeld = statement<{ count: number; bytes: number }, { userId: number }>(
  'account.sshKeysHeld',
  `select count(*)::int as count, coalesce(sum(octet_length(public_key) + 1), 0)::int as bytes
   from ssh_keys where user_id = :userId`,
);
type Deleted = Pick<SshKey, 'id' | 'name' | 'fingerprint'>;

const deleteKey = statement<Deleted, { id: number; userId: number }>(
  'account.deleteSshKey',
  'delete from ssh_keys where id = :id and user_id = :userId returning id, name, fingerprint',
);
const deleteSince = statement<Deleted, { userId: number; since: Date }>(
  'account.deleteSshKeysSince',
  'delete from ssh_keys where user_id = :userId and created_at >= :since returning id, name, fingerprint',
);
const ownerOfKey = statement<{ user_id: number }, { id: number }>(
  'account.ownerOfSshKey',
  'select user_id from ssh_keys where id = :id',
);

const keyById = statement<SshKey & { userId: number }, { id: number }>(
  'account.sshKey',
  `select t.id, t.name, t.type, t.public_key as "publicKey", t.fingerprint, t.created_at as "createdAt",
     t.user_id as "userId"
   from ssh_keys t where t.id = :id`,
);
const lockKey = statement<never, { id: number; userId: number | null }>(
  'account.lockSshKey',
  'select id from ssh_keys where id = :id and user_id = :userId for update',
);

/** A key of the caller's; `forbidden` when it is another person's. */
export async function readSshKey(ctx: AccountContext, id: number) {
  const row = await requireRow(ctx, keyById, { id });
  if (row.userId !== ctx.actor.userId) throw fail('forbidden');
  return { ssh_key: view(row) };
}

/** Nobody deletes the key, if it is the caller's, until this transaction ends. */
export async function lockSshKey(tx: AccountContext & TxContext, id: number): Promise<void> {
  await tx.db.maybe(lockKey, { id, userId: tx.actor.userId });
}

export async function listSshKeys(ctx: AccountContext, query: ListRequest) {
  const { rows, at } = await keys(ctx, query, { userId: ctx.actor.userId });
  return listData('ssh_keys', rows.map(view), at);
}

/** All keys of a user, for the machines that are to let them in. */
export function sshKeysOf(ctx: Context, userId: number): Promise<SshKey[]> {
  return ctx.db.many(keysOfUser, { userId });
}

/** Adds a key. `invalid_ssh_key`, `duplicate_ssh_key`, `too_many`. */
export async function createSshKey(ctx: AccountContext, body: { name: string; public_key: string }) {
  requireLine('name', body.name);
  const key = parsePublicKey(body.public_key);
  const row: SshKey = { id: newId(), name: body.name, ...key, createdAt: ctx.clock.now() };
  return transaction(ctx, 'account.createSshKey', async (tx) => {
    const { userId } = ctx.actor;
    await requireFit(tx, userId, row.publicKey);
    try {
      await tx.db.run(insertKey, {
        id: row.id,
        userId,
        name: row.name,
        type: row.type,
        publicKey: row.publicKey,
        fingerprint: row.fingerprint,
        createdAt: row.createdAt,
      });
    } catch (error) {
      throw isDuplicate(error, 'ssh_keys_fingerprint') ? fail('duplicate_ssh_key', { cause: error }) : error;
    }
    await record(tx, sshKeyCreated, {
      subject: { type: 'ssh_key', id: row.id },
      data: { user_id: userId, name: row.name, fingerprint: row.fingerprint },
    });
    return { ssh_key: view(row) };
  });
}

/** All keys of an account go into each machine it orders, so together they may be as long as a machine takes. */
async function requireFit(tx: TxContext, userId: number, publicKey: string): Promise<void> {
  await lockUser(tx, userId);
  const { count, bytes } = await tx.db.one(keysHeld, { userId });
  if (count >= keysPerAccount)
    throw fail('too_many', { message: `An account holds ${keysPerAccount} SSH keys; delete one first` });
  if (bytes + keysBytes([publicKey]) > identityLimits.authorizedKeysBytes) {
    const most = identityLimits.authorizedKeysBytes / 1024;
    throw fail('too_many', { message: `The SSH keys of an account hold ${most} KiB; delete one first` });
  }
}

/** Removes a key from the account; machines that have it already keep it. */
export async function deleteSshKey(ctx: AccountContext, id: number) {
  return transaction(ctx, 'account.deleteSshKey', async (tx) => {
    const deleted = await tx.db.maybe(deleteKey, { id, userId: ctx.actor.userId });
    if (deleted === null)
      throw fail((await tx.db.maybe(ownerOfKey, { id })) === null ? 'not_found' : 'forbidden');
    await tellDeleted(tx, deleted);
    return { deleted: true };
  });
}

/** Removes the keys that were added to an account since a moment from which on somebody else had it; gives their names. */
export async function dropSshKeysSince(tx: AccountContext & TxContext, since: Date): Promise<string[]> {
  const deleted = await tx.db.many(deleteSince, { userId: tx.actor.userId, since });
  for (const key of deleted) await tellDeleted(tx, key);
  return deleted.map(({ name }) => name);
}

function tellDeleted(tx: AccountContext & TxContext, { id, name, fingerprint }: Deleted): Promise<unknown> {
  const data = { user_id: tx.actor.userId, name, fingerprint };
  return record(tx, sshKeyDeleted, { subject: { type: 'ssh_key', id }, data });
}

function view(row: SshKey) {
  return {
    id: row.id,
    name: row.name,
    fingerprint: row.fingerprint,
    type: row.type,
    created_at: row.createdAt.toISOString(),
  };
}

/**
 * Reads one OpenSSH public key line. What is kept is type and key alone: options and comments of the line are
 * somebody's text, and the line is going to stand in a file that gives access.
 */
export function parsePublicKey(text: string): { type: string; publicKey: string; fingerprint: string } {
  const match = /^([a-z0-9@.-]+)[ \t]+([A-Za-z0-9+/]+={0,2})(?:[ \t][^\r\n]*)?$/.exec(text.trim());
  const [, type, encoded] = match ?? [];
  if (type === undefined || encoded === undefined) {
    throw fail('invalid_ssh_key', {
      message: 'Paste one line of a .pub file, such as: ssh-ed25519 AAAA… you@laptop',
    });
  }
  const blob = Buffer.from(encoded, 'base64');
  if (!isSound(type, blob)) {
    const dsa = type === 'ssh-dss' ? 'DSA keys are too weak, and OpenSSH takes them no more. ' : '';
    throw fail('invalid_ssh_key', {
      message: `${dsa}Use an Ed25519, ECDSA or security-key (sk-) key, or RSA of at least ${smallestRsaBits} bits`,
    });
  }
  const fingerprint = createHash('sha256').update(blob).digest('base64').replace(/=+$/, '');
  return { type, publicKey: `${type} ${blob.toString('base64')}`, fingerprint: `SHA256:${fingerprint}` };
}

/** How many fields the blob of each type has, its name included (RFC 4253, 5656, 8709; OpenSSH's PROTOCOL.u2f). */
const fieldsByType: Record<string, number> = {
  'ssh-ed25519': 2,
  'ssh-rsa': 3,
  'ecdsa-sha2-nistp256': 3,
  'ecdsa-sha2-nistp384': 3,
  'ecdsa-sha2-nistp521': 3,
  'sk-ssh-ed25519@openssh.com': 3,
  'sk-ecdsa-sha2-nistp256@openssh.com': 4,
};

function isSound(type: string, blob: Buffer): boolean {
  const fields = fieldsOf(blob);
  if (fields === null || fields.length !== fieldsByType[type] || fields[0]?.toString('latin1') !== type)
    return false;
  if (type.startsWith('sk-')) return isSoundOnToken(type, fields);
  const curve = curves[type];
  if (curve !== undefined && !isOnCurve(curve, fields[2])) return false;
  try {
    const key = sshpk.parseKey(`${type} ${blob.toString('base64')}`, 'ssh');
    return key.type !== 'rsa' || (key.size >= smallestRsaBits && key.size <= largestRsaBits);
  } catch {
    return false; // the library's own words say nothing to a customer
  }
}

/** A key that a security key holds: the library does not know the types. */
function isSoundOnToken(type: string, fields: Buffer[]): boolean {
  const application = fields.at(-1);
  if (application === undefined || application.length === 0) return false;
  if (type === 'sk-ssh-ed25519@openssh.com') return fields[1]?.length === 32;
  return fields[1]?.toString('latin1') === 'nistp256' && isOnCurve('P-256', fields[2]);
}

const curves: Record<string, string> = {
  'ecdsa-sha2-nistp256': 'P-256',
  'ecdsa-sha2-nistp384': 'P-384',
  'ecdsa-sha2-nistp521': 'P-521',
};

/** Whether a point is one of the curve, as OpenSSH wants it: written in full. */
function isOnCurve(crv: string, point: Buffer | undefined): boolean {
  if (point === undefined || point[0] !== 4 || point.length % 2 === 0) return false;
  const half = (point.length + 1) / 2;
  const [x, y] = [point.subarray(1, half), point.subarray(half)].map((part) => part.toString('base64url'));
  try {
    createPublicKey({ key: { kty: 'EC', crv, x, y } as JsonWebKey, format: 'jwk' });
    return true;
  } catch {
    return false;
  }
}

/** Four bytes of length, then the field, again and again to the last byte; null when it does not come out even. */
function fieldsOf(blob: Buffer): Buffer[] | null {
  const fields: Buffer[] = [];
  let at = 0;
  while (at + 4 <= blob.length) {
    const end = at + 4 + blob.readUInt32BE(at);
    if (end > blob.length) return null;
    fields.push(blob.subarray(at + 4, end));
    at = end;
  }
  return at === blob.length ? fields : null;
}
