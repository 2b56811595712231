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
/** Of all: more is somebody who makes up MACs. */
const mostAtOnce = 2_000;
/** After this many minutes a token that nobody has claimed opens nothing. */
const openMinutes = 30;

const insert = statement<
  { id: number },
  Omit<Start, 'secretHash' | 'proved'> & { mac: string; assignmentId: number | null; now: Date }
>(
  'fleet.insertStart',
  `insert into server_starts (mac, assignment_id, token_hash, nonce, opened_at)
   values (:mac::macaddr, :assignmentId::bigint, :tokenHash, :nonce, :now) returning id`,
);
// Of those that nobody knows: strangers keep no server from what is to be done with it.
const count = statement<{ starts: number }>(
  'fleet.countStarts',
  'select count(*)::int as starts from server_starts where assignment_id is null',
);
const forgetOlder = statement<never, { mac: string; most: number }>(
  'fleet.forgetOlderStarts',
  `delete from server_starts where id in (select id from server_starts where mac = :mac::macaddr and secret_hash is null
     order by id desc offset :most)`,
);
const byHash = statement<Row, { hash: string; since: Date }>(
  'fleet.startByHash',
  `select id, mac::text as mac, assignment_id, token_hash, secret_hash, nonce, proved from server_starts
   where secret_hash = :hash or (token_hash = :hash and (secret_hash is not null or opened_at > :since))`,
);
const keep = statement<never, { id: number; secretHash: string }>(
  'fleet.claimStart',
  'update server_starts set secret_hash = :secretHash where id = :id and coalesce(secret_hash, :secretHash) = :secretHash',
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
// What nobody has claimed, and what was claimed by somebody who then said nothing of itself.
const forget = statement<never, { unclaimedSince: Date; silentSince: Date }>(
  'fleet.forgetStarts',
  `delete from server_starts s where (s.secret_hash is null and s.opened_at <= :unclaimedSince)
     or (s.opened_at <= :silentSince and not exists (select 1 from server_arrivals a where a.start_id = s.id and a.seen_at > :silentSince)
       and not (s.proved and exists (select 1 from server_assignments g where g.id = s.assignment_id and g.ended_at is null)))`,
);

/**
 * Opens a start for whoever says that it has this MAC, and gives the token for its boot script; null while there are too many that nobody
 * knows. `assignmentId`: what is to be done with the server that has it.
 */
export async function openStart(
  ctx: Context,
  mac: string,
  assignmentId: number | null = null,
): Promise<string | null> {
  if (assignmentId === null && (await ctx.db.one(count)).starts >= mostAtOnce) {
    ctx.log.warn({ mac }, 'more machines start from the network than there can be: nobody new is looked at');
    return null;
  }
  const { token, start } = newStart();
  const { tokenHash, nonce } = start;
  await transaction(ctx, 'fleet.openStart', async (tx) => {
    await tx.db.one(insert, { mac, assignmentId, tokenHash, nonce, now: tx.clock.now() });
    await tx.db.run(forgetOlder, { mac, most: mostOpen });
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
  return (await ctx.db.run(keep, { id, secretHash })) === 1;
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
  await tx.db.run(forget, { unclaimedSince: before(tx, openMinutes), silentSince: before(tx, 24 * 60) });
}

function before({ clock }: Context, minutes: number): Date {
  return new Date(clock.now().getTime() - minutes * 60_000);
}
