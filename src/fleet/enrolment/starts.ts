import { newStart, type Start } from '../../drivers/installer/index.ts';
import { type Context, statement, type TxContext, transaction } from '../../platform/index.ts';

/** A start of a machine, as it is kept. */
export interface KeptStart extends Start {
  id: number;
  mac: string;
  /** What is to be done with the server that has this MAC; null: it started to be enrolled. */
  assignmentId: number | null;
}

interface Row {
  id: number;
  mac: string;
  assignment_id: number | null;
  token_hash: string;
  secret_hash: string | null;
  nonce: string;
  proved: boolean;
}

/** Of one MAC, that nobody has claimed: whoever fetches scripts in a loop fills no table. */
const mostOpen = 20;
/** From one address, that have said nothing of themselves yet, claimed or not: who makes up MACs there takes up nobody else's room. */
const mostFromOne = 20;
/** Of all: more is somebody who makes up addresses, too. */
const mostAtOnce = 2_000;
/** After this many minutes a token that nobody has claimed opens nothing. */
const openMinutes = 30;
/** So long has whoever claimed a start to say what it has, which takes the largest server a minute or two. */
const claimedMinutes = 10;

const insert = statement<
  { id: number },
  Omit<Start, 'secretHash' | 'proved'> & {
    mac: string;
    remote: string | null;
    assignmentId: number | null;
    now: Date;
  }
>(
  'fleet.insertStart',
  `insert into server_starts (mac, remote, assignment_id, token_hash, nonce, opened_at)
   values (:mac::macaddr, :remote::inet, :assignmentId::bigint, :tokenHash, :nonce, :now) returning id`,
);
// Of those that nobody knows: strangers keep no server from what is to be done with it.
const count = statement<{ starts: number }>(
  'fleet.countStarts',
  'select count(*)::int as starts from server_starts where assignment_id is null',
);
// By where it is asked from: who makes up the MAC of another takes nothing from it.
const forgetOlder = statement<never, { mac: string; remote: string | null; most: number }>(
  'fleet.forgetOlderStarts',
  `delete from server_starts where id in (select id from server_starts where mac = :mac::macaddr
     and remote is not distinct from :remote::inet and not proved and (secret_hash is null or assignment_id is not null)
     order by id desc offset :most)`,
);
// Whoever is in the waiting list has said what it has, and a server is to be worked on whatever else asks from where it asks.
const forgetOlderFrom = statement<never, { remote: string; most: number }>(
  'fleet.forgetOlderStartsFrom',
  `delete from server_starts where id in (select s.id from server_starts s where s.remote = :remote::inet and s.assignment_id is null
     and not exists (select 1 from server_arrivals a where a.start_id = s.id) order by s.id desc offset :most)`,
);
const byHash = statement<Row, { hash: string; since: Date }>(
  'fleet.startByHash',
  `select id, mac::text as mac, assignment_id, token_hash, secret_hash, nonce, proved from server_starts
   where secret_hash = :hash or (token_hash = :hash and (secret_hash is not null or opened_at > :since))`,
);
const keep = statement<never, { id: number; secretHash: string; now: Date }>(
  'fleet.claimStart',
  `update server_starts set secret_hash = :secretHash, claimed_at = coalesce(claimed_at, :now)
   where id = :id and coalesce(secret_hash, :secretHash) = :secretHash`,
);
const proveOne = statement<never, { id: number }>(
  'fleet.proveStart',
  'update server_starts set proved = true where id = :id',
);
const endOthers = statement<never, { id: number; mac: string }>(
  'fleet.endOtherStarts',
  'delete from server_starts where mac = :mac::macaddr and id <> :id',
);
const end = statement<never, { id: number }>('fleet.endStart', 'delete from server_starts where id = :id');
// What nobody has claimed, what was claimed by somebody who then said nothing of itself, and what was not heard of for a day. Those that are
// being enrolled are none of them, nor those of a server that is to be worked on; of these a stranger's own is over after a day.
const forget = statement<never, { unclaimedSince: Date; claimedSince: Date; silentSince: Date }>(
  'fleet.forgetStarts',
  `delete from server_starts s where (s.secret_hash is null and s.opened_at <= :unclaimedSince)
     or (s.secret_hash is not null and coalesce(s.claimed_at, s.opened_at) <= :claimedSince and s.disks is null
       and not exists (select 1 from server_arrivals a where a.start_id = s.id)
       and not exists (select 1 from server_assignments g where g.id = s.assignment_id and g.ended_at is null))
     or (s.opened_at <= :silentSince
       and not exists (select 1 from server_arrivals a where a.start_id = s.id and (a.seen_at > :silentSince or a.state = 'accepted'))
       and not (s.proved and exists (select 1 from server_assignments g where g.id = s.assignment_id and g.ended_at is null)))`,
);

/**
 * Opens a start for whoever says that it has this MAC, and gives the token for its boot script; null while there are too many that nobody
 * knows. `remote`: the address that it asks from. `assignmentId`: what is to be done with the server that has the MAC.
 */
export async function openStart(
  ctx: Context,
  { mac, remote, assignmentId }: { mac: string; remote: string | null; assignmentId: number | null },
): Promise<string | null> {
  if (assignmentId === null && (await ctx.db.one(count)).starts >= mostAtOnce) {
    ctx.log.warn({ mac }, 'more machines start from the network than there can be: nobody new is looked at');
    return null;
  }
  const { token, start } = newStart();
  const { tokenHash, nonce } = start;
  await transaction(ctx, 'fleet.openStart', async (tx) => {
    await tx.db.one(insert, { mac, remote, assignmentId, tokenHash, nonce, now: tx.clock.now() });
    await tx.db.run(forgetOlder, { mac, remote, most: mostOpen });
    if (remote !== null && assignmentId === null)
      await tx.db.run(forgetOlderFrom, { remote, most: mostFromOne });
  });
  return token;
}

/** The start that this hash of a token or a secret is of; null when there is none, or it is over. */
export async function findStart(ctx: Context, hash: string): Promise<KeptStart | null> {
  const row = await ctx.db.maybe(byHash, { hash, since: before(ctx, openMinutes) });
  if (row === null) return null;
  const { id, mac, assignment_id: assignmentId, nonce, proved } = row;
  return { id, mac, assignmentId, tokenHash: row.token_hash, secretHash: row.secret_hash, nonce, proved };
}

/** Keeps the secret that a claim gave; false when another claim came first. */
export async function keepClaim(ctx: Context, id: number, secretHash: string): Promise<boolean> {
  return (await ctx.db.run(keep, { id, secretHash, now: ctx.clock.now() })) === 1;
}

/** Its nonce was read on the serial line of its BMC: it is the one that has this MAC, and all others that say so are over. */
export async function proveStart(tx: TxContext, id: number, mac: string): Promise<void> {
  await tx.db.run(proveOne, { id });
  await tx.db.run(endOthers, { id, mac });
}

/** Its calls open nothing any more: whatever holds it starts anew. */
export async function endStart(tx: TxContext, id: number): Promise<void> {
  await tx.db.run(end, { id });
}

export async function forgetStarts(tx: TxContext): Promise<void> {
  await tx.db.run(forget, {
    unclaimedSince: before(tx, openMinutes),
    claimedSince: before(tx, claimedMinutes),
    silentSince: before(tx, 24 * 60),
  });
}

function before({ clock }: Context, minutes: number): Date {
  return new Date(clock.now().getTime() - minutes * 60_000);
}
