import { isIPv4 } from 'node:net';
import type { Desk, Inventory, Plan, Report } from '../../drivers/installer/index.ts';
import type { BootDesk } from '../../drivers/netboot/index.ts';
import {
  AppError,
  type Context,
  findLastRestore,
  statement,
  type TxContext,
  transaction,
} from '../../platform/index.ts';
import { type NewBmc, otherAtBmc, readBmc } from '../servers/bmc.ts';
import { arrive, noteSeen } from './arrivals.ts';
import { openBmc, sealBmc } from './sealedBmc.ts';
import { findStart, type KeptStart, keepClaim, openStart } from './starts.ts';
import { enrolmentSince } from './window.ts';

const known = statement<
  { state: string; assignment: number | null; kind: string | null; opened_at: Date | null },
  { mac: string }
>(
  'fleet.serverAtMac',
  `select s.state, g.id as assignment, g.kind, g.opened_at from server_ports p join servers s on s.id = p.server_id
     left join server_assignments g on g.server_id = s.id and g.state in ('open', 'working')
   where p.mac = :mac::macaddr`,
);
const isRejected = statement<{ id: number }, { mac: string; since: Date }>(
  'fleet.rejectedAtMac',
  `select id from server_arrivals where mac = :mac::macaddr and state = 'rejected' and decided_at >= :since limit 1`,
);
const accepted = statement<{ id: number; bmc: Buffer }, { startId: number }>(
  'fleet.machineToEnrol',
  `select id, bmc from server_arrivals where start_id = :startId and state = 'accepted' and bmc_inside = 'wanted' and problem is null
     and bmc is not null`,
);
const lockAccepted = statement<{ id: number; server_id: number; bmc: Buffer }, { startId: number }>(
  'fleet.lockMachineToEnrol',
  `select id, server_id, bmc from server_arrivals where start_id = :startId and state = 'accepted' and bmc_inside = 'wanted'
     and bmc is not null and server_id is not null for update`,
);
const writeInside = statement<
  never,
  { id: number; bmc: Buffer; inside: 'wanted' | 'set'; problem: string | null }
>(
  'fleet.hearInside',
  'update server_arrivals set bmc = :bmc, bmc_inside = :inside, problem = :problem where id = :id',
);
const knownMacs = statement<{ mac: string }>(
  'fleet.macsOfServers',
  `select p.mac::text as mac from server_ports p join servers s on s.id = p.server_id where s.state <> 'retired'
   union select mac::text from server_arrivals where state = 'accepted' order by mac`,
);

/**
 * What a machine that starts from the network is to start: our installer where the product has something to do with the server that has this
 * MAC, and, while enrolment is open, where nobody knows it; all others get their disk.
 */
export function bootAnswer(ctx: Context): BootDesk['answer'] {
  return async (mac, from) => {
    // The network of servers is IPv4. Whoever is gone by now is from nowhere, and as a stranger gets no start that nobody could count.
    const remote = isIPv4(from) ? from : null;
    const server = await ctx.db.maybe(known, { mac });
    if (server !== null && server.assignment !== null && server.opened_at !== null) {
      // What a backup brought back may have been done since, and a customer have what is on the disks: a person goes on with it first.
      const restore = await findLastRestore(ctx);
      if (restore !== null && server.opened_at <= restore.restored_at) return { start: 'disk' };
      const token = await openStart(ctx, { mac, remote, assignmentId: server.assignment });
      const start = server.kind === 'rescue' ? 'rescue' : 'installer';
      return token === null ? { start: 'disk' } : { start, token };
    }
    if (server !== null && server.state !== 'waiting') return { start: 'disk' };
    if (remote === null) return { start: 'disk' };
    const since = await enrolmentSince(ctx);
    if (since === null || (await ctx.db.maybe(isRejected, { mac, since })) !== null) return { start: 'disk' };
    const token = await openStart(ctx, { mac, remote, assignmentId: null });
    return token === null ? { start: 'disk' } : { start: 'installer', token };
  };
}

const listFull =
  'more machines wait to be accepted than there can be, and all of them are there: nobody new is listed. Reject those that are not yours';

/** Whom the installers of machines call. None of them is told to do anything to a disk. */
export function enrolmentDesk(ctx: Context): Desk {
  const idOf = async (hash: string) => (await findStart(ctx, hash))?.id ?? null;
  const toDo = async ({ tokenHash }: { tokenHash: string }) => {
    const id = await idOf(tokenHash);
    return id === null ? ({ task: 'wait' } as const) : taskOf(ctx, id);
  };
  // Said when it becomes full: whoever fills the list would fill the log otherwise.
  let isFull = false;
  const arrived = async ({ id, mac }: KeptStart, inventory: Inventory) => {
    const came = await arrive(ctx, id, mac, inventory);
    if (came === 'known') return;
    if (came === 'full' && !isFull) ctx.log.warn({ mac }, listFull);
    isFull = came === 'full';
  };
  return {
    find: (hash) => findStart(ctx, hash),
    async keep({ tokenHash, secretHash }) {
      const id = await idOf(tokenHash);
      return id !== null && secretHash !== null && keepClaim(ctx, id, secretHash);
    },
    async report({ tokenHash }, report) {
      const start = await findStart(ctx, tokenHash);
      if (start === null) return;
      if (report.kind === 'inventory') await arrived(start, report.inventory);
      if (report.kind === 'bmc') await hearInside(ctx, start.id, report);
    },
    plan: toDo,
    meanwhile: toDo,
    image: async () => null,
  };
}

async function taskOf(ctx: Context, startId: number): Promise<Extract<Plan, { task: 'wait' | 'bmc' }>> {
  await noteSeen(ctx, startId);
  const machine = await ctx.db.maybe(accepted, { startId });
  if (machine === null) return { task: 'wait' };
  const { user, password } = openBmc(ctx, machine.id, machine.bmc);
  return { task: 'bmc', bmc: { user, password } };
}

async function hearInside(
  ctx: Context,
  startId: number,
  report: Extract<Report, { kind: 'bmc' }>,
): Promise<void> {
  await transaction(ctx, 'fleet.hearInside', async (tx) => {
    const machine = await tx.db.maybe(lockAccepted, { startId });
    if (machine === null) return;
    const { id: arrivalId, bmc: sealed } = machine;
    const known = openBmc(tx, arrivalId, sealed);
    // It may have got another address since the inventory.
    const said = { ...known, address: report.address ?? known.address };
    const problem = report.problem ?? (await problemOf(tx, machine.server_id, said));
    await tx.db.run(writeInside, {
      id: arrivalId,
      bmc: problem === null ? sealBmc(tx, arrivalId, said) : sealed,
      inside: problem === null ? 'set' : 'wanted',
      problem,
    });
  });
}

/** What is wrong with the BMC that a machine says is its own, which is a stranger's word: what staff may not give, it may not either. */
async function problemOf(tx: TxContext, serverId: number, bmc: NewBmc): Promise<string | null> {
  try {
    const reached = readBmc(tx, bmc, { isPinnedLater: true });
    const other = await otherAtBmc(tx, serverId, reached);
    return other === null
      ? null
      : `it says that its address is ${reached.address}, where the BMC of ${other} is`;
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return `it says that its address is ${bmc.address}, which is none of a BMC in your network`;
  }
}

/** Servers that may start from the network whether enrolment is open or not. */
export async function macsOfServers(ctx: Context): Promise<string[]> {
  return (await ctx.db.many(knownMacs)).map(({ mac }) => mac);
}
