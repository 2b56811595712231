import { randomBytes } from 'node:crypto';
import { isIP } from 'node:net';
import { record } from '../../events/index.ts';
import {
  type Context,
  enqueue,
  fail,
  refuse,
  statement,
  type TxContext,
  transaction,
} from '../../platform/index.ts';
import { machineAccepted, machineRejected } from '../events.ts';
import { type NewBmc, otherAtBmc, readBmc } from '../servers/bmc.ts';
import { insertOne, requireServer } from '../servers/staff.ts';
import { type ArrivalRow, about, isThere, readArrival, requireArrival } from './arrivals.ts';
import { enrolment } from './enrol.ts';
import { refuseAnothers } from './measured.ts';
import { sealBmc } from './sealedBmc.ts';
import { endStart } from './starts.ts';
import { requireAction } from './states.ts';

export interface Acceptance {
  /** Which server it is of those that wait; or what the new one is called. */
  server_id?: number;
  name?: string;
  serial?: string;
  rack_id?: number | null;
  unit?: number | null;
  height?: number;
  note?: string | null;
  /** How its BMC is reached already; without it the installer sets an account of ours from inside. */
  bmc?: NewBmc;
  /** How we speak to the BMC then. Default: IPMI. */
  bmc_kind?: 'ipmi' | 'redfish';
}

/** Who we are at a BMC that the installer gave our account to. */
const ourUser = 'innkeeper';

const write = statement<
  never,
  { id: number; serverId: number; bmc: Buffer; inside: 'wanted' | null; now: Date }
>(
  'fleet.acceptArrival',
  `update server_arrivals set state = 'accepted', server_id = :serverId, bmc = :bmc, bmc_inside = :inside, problem = null, decided_at = :now
   where id = :id`,
);
const writeRejected = statement<never, { id: number; now: Date }>(
  'fleet.rejectArrival',
  `update server_arrivals set state = 'rejected', start_id = null, problem = null, decided_at = :now where id = :id`,
);
// The server is locked: no other acceptance comes in between.
const enrolling = statement<{ id: number }, { serverId: number; id: number }>(
  'fleet.machineEnrolledAs',
  `select id from server_arrivals where server_id = :serverId and state = 'accepted' and id <> :id limit 1`,
);

/**
 * Accepts a machine of the waiting list, as a new server or as one that was written down and waits. It becomes ready once it is proved that it is
 * the machine behind its BMC. `conflict` while it is not there, or what it has is another server's; `invalid_request` says what else
 * is in the way. What it has is written down once it is proved.
 */
export async function acceptMachine(ctx: Context, id: number, wanted: Acceptance) {
  return transaction(ctx, 'fleet.acceptMachine', async (tx) => {
    const machine = await requireArrival(tx, id);
    requireAction('accept', { ...machine, is_there: isThere(tx, machine) });
    refuseTwins(machine, wanted);
    const bmc = wanted.bmc ?? insideOf(machine, wanted.bmc_kind);
    if (wanted.bmc !== undefined && wanted.bmc_kind !== undefined)
      throw refuse('bmc_kind', 'has no meaning beside bmc, which has a kind of its own');
    const reached = readBmc(tx, bmc, { isPinnedLater: true });
    const serverId = await serverOf(tx, machine, wanted);
    const other = await otherAtBmc(tx, serverId, reached);
    if (other !== null) throw refuse('bmc', `at ${reached.address} is that of ${other} already`);
    await refuseAnothers(tx, serverId, machine);
    const inside = wanted.bmc === undefined ? 'wanted' : null;
    await tx.db.run(write, { id, serverId, inside, bmc: sealBmc(tx, id, bmc), now: tx.clock.now() });
    const { name } = await requireServer(tx, serverId);
    await record(tx, machineAccepted, { ...about(id), data: { serial: machine.serial, server: name } });
    await enqueue(tx, enrolment, { arrivalId: id, serverId }, { organizationId: null });
    return readArrival(tx, id);
  });
}

/** Sends a machine of the waiting list away: it starts from its own disks until enrolment is opened anew. `conflict`. */
export async function rejectMachine(ctx: Context, id: number) {
  return transaction(ctx, 'fleet.rejectMachine', async (tx) => {
    const machine = await requireArrival(tx, id);
    requireAction('reject', { ...machine, is_there: isThere(tx, machine) });
    await tx.db.run(writeRejected, { id, now: tx.clock.now() });
    if (machine.start_id !== null) await endStart(tx, machine.start_id);
    await record(tx, machineRejected, { ...about(id), data: { serial: machine.serial, mac: machine.mac } });
    return readArrival(tx, id);
  });
}

/** Two that say the same are told apart by a person: one of them may be anybody who copied it. */
function refuseTwins(
  { alike_by_mac: byMac, alike_by_serial: bySerial, serial }: ArrivalRow,
  wanted: Acceptance,
) {
  if (byMac.length > 0)
    throw fail('conflict', {
      message: `The machine has the MAC that ${byMac.join(', ')} says it has, too: reject the one that is not yours`,
    });
  if (bySerial.length > 0 && (wanted.serial ?? serial) === serial)
    throw refuse(
      'serial',
      `is that of ${bySerial.join(', ')}, too: reject the one that is not yours, or give another`,
    );
}

/** The BMC as the machine sees it, with an account of ours that nobody has yet. */
function insideOf({ inventory }: ArrivalRow, kind: 'ipmi' | 'redfish' = 'ipmi'): NewBmc {
  const address = inventory.bmc?.address ?? null;
  if (address === null || isIP(address) === 0)
    throw refuse('bmc', 'must be given: the machine sees none of its own that has an address');
  // Sixteen characters: some BMCs cut what is longer without a word.
  return { kind, address, user: ourUser, password: randomBytes(12).toString('base64url') };
}

async function serverOf(tx: TxContext, machine: ArrivalRow, wanted: Acceptance): Promise<number> {
  const { server_id: serverId, name, bmc: _, bmc_kind: _kind, serial = machine.serial, ...place } = wanted;
  if (serverId === undefined) {
    if (name === undefined) throw refuse('name', 'must be given, or the server that it is');
    if (serial === '') throw refuse('serial', 'must be given: the machine says none of its own');
    return insertOne(tx, { name, serial, ...place });
  }
  if (Object.keys(wanted).some((field) => !['server_id', 'bmc', 'bmc_kind'].includes(field)))
    throw refuse('server_id', 'is written down already: change the server for all else');
  const server = await requireServer(tx, serverId);
  if (server.state !== 'waiting') throw refuse('server_id', `is ${server.state}: it must be waiting`);
  if (server.in_rescue || server.customer_work !== null)
    throw refuse('server_id', 'is in the rescue system: turn that off first');
  const other = await tx.db.maybe(enrolling, { serverId, id: machine.id });
  if (other !== null)
    throw fail('conflict', {
      message: `${server.name} is being enrolled by the machine ${other.id} right now`,
    });
  // One that was accepted as it before is it, whatever serial number it was given then.
  if (machine.server_id === serverId) return serverId;
  if (server.serial !== machine.serial && !server.macs.includes(machine.mac))
    throw refuse('server_id', `has the serial number ${server.serial} and other ports than this machine`);
  return serverId;
}
