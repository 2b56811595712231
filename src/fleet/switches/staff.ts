import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import type { AuthProtocol } from '../../drivers/switch/index.ts';
import { record } from '../../events/index.ts';
import { type ListRequest, listData, pagedList } from '../../platform/http/index.ts';
import {
  type Context,
  enqueue,
  fail,
  isDuplicate,
  refuse,
  requireRow,
  statement,
  type TxContext,
  transaction,
} from '../../platform/index.ts';
import { switchCheckAsked, switchCreated, switchDeleted, switchUpdated } from '../events.ts';
import { switchReading } from './read.ts';
import { lockRow, type SwitchRow, sealPassphrases, selectSwitch, switchById, viewSwitch } from './rows.ts';

export interface Credential {
  user: string;
  auth_protocol: AuthProtocol;
  auth_passphrase: string;
  privacy_passphrase: string;
}

export interface NewSwitch {
  name: string;
  location: string;
  address: string;
  port?: number;
  credential: Credential;
  note?: string | null;
}

export type SwitchChange = Partial<NewSwitch>;

interface Written {
  name: string;
  location: string;
  address: string;
  port: number;
  note: string | null;
}

const insertSwitch = statement<{ id: number }, Written & { now: Date }>(
  'fleet.insertSwitch',
  `insert into switches (name, location, address, port, username, auth_protocol, passphrases, note, created_at)
   values (:name, :location, :address, :port, '', '', '', :note, :now) returning id`,
);
const updateSwitch = statement<never, Written & { id: number; isReached: boolean }>(
  'fleet.updateSwitch',
  `update switches set name = :name, location = :location, address = :address, port = :port, note = :note,
     generation = generation + case when :isReached::boolean then 1 else 0 end,
     check_state = case when :isReached::boolean then 'checking' else check_state end where id = :id`,
);
const writeCredential = statement<
  never,
  { id: number; user: string; authProtocol: string; passphrases: Buffer }
>(
  'fleet.writeSwitchCredential',
  'update switches set username = :user, auth_protocol = :authProtocol, passphrases = :passphrases where id = :id',
);
const beginCheck = statement<never, { id: number }>(
  'fleet.beginSwitchCheck',
  `update switches set check_state = 'checking' where id = :id`,
);
const deleteSwitch = statement<never, { id: number }>(
  'fleet.deleteSwitch',
  'delete from switches where id = :id',
);
const pluggedIn = statement<{ count: number }, { id: number }>(
  'fleet.pluggedIntoSwitch',
  'select count(*)::int as count from server_ports where switch_id = :id',
);

const switches = pagedList<SwitchRow>({
  name: 'fleet.switches',
  from: 'switches t',
  select: selectSwitch,
  filters: { location: 't.location = :location' },
  key: { by: 't.id', type: 'bigint', of: (row) => row.id },
  sorts: { id: null, name: { by: 't.name', type: 'text', of: (row) => row.name } },
  order: 'name',
});

export async function listSwitches(ctx: Context, query: ListRequest & { location?: string | undefined }) {
  const { rows, at } = await switches(ctx, query, { location: query.location });
  return listData('switches', rows.map(viewSwitch), at);
}

export async function readSwitch(ctx: Context, id: number) {
  return { switch: viewSwitch(await requireRow(ctx, switchById, { id })) };
}

/** Nobody changes the switch until the transaction ends. */
export async function lockSwitch(tx: TxContext, id: number): Promise<void> {
  await tx.db.many(lockRow, { id });
}

/** Writes down a switch and has it read. `invalid_request` where it cannot be reached so, `conflict` when there is one of its name or address. */
export async function addSwitch(ctx: Context, wanted: NewSwitch) {
  const { name, location, port = 161, note = null, credential } = wanted;
  const values = { name, location, address: readAddress(wanted.address), port, note };
  return transaction(ctx, 'fleet.addSwitch', async (tx) => {
    const { id } = await once(values, () => tx.db.one(insertSwitch, { ...values, now: tx.clock.now() }));
    await keepCredential(tx, id, credential);
    await record(tx, switchCreated, { ...about(id), data: { name, location, address: values.address } });
    await enqueue(tx, switchReading, { switchId: id }, { organizationId: null });
    return readSwitch(tx, id);
  });
}

/** Changes what is said of a switch; reached in another way, which takes its credential anew, it is read anew. Errors as {@link addSwitch}. */
export async function changeSwitch(ctx: Context, id: number, { credential, ...change }: SwitchChange) {
  return transaction(ctx, 'fleet.changeSwitch', async (tx) => {
    await lockSwitch(tx, id);
    const before = await requireRow(tx, switchById, { id });
    const { name, location, port, note } = { ...before, ...change };
    const address = change.address === undefined ? before.address : readAddress(change.address);
    const isElsewhere = address !== before.address || port !== before.port;
    if (isElsewhere && credential === undefined)
      throw refuse('credential', 'must be given again, since the one that is kept goes nowhere else');
    const isReached = isElsewhere || credential !== undefined;
    const values = { name, location, address, port, note };
    await once(values, () => tx.db.run(updateSwitch, { id, ...values, isReached }));
    if (credential) await keepCredential(tx, id, credential);
    const told = { ...change, ...(credential && { credential: 'another' as const }) };
    await record(tx, switchUpdated, { ...about(id), data: { name: before.name, change: told } });
    if (isReached) await enqueue(tx, switchReading, { switchId: id }, { organizationId: null });
    return readSwitch(tx, id);
  });
}

/** Has a switch read once more. */
export async function checkSwitch(ctx: Context, id: number) {
  return transaction(ctx, 'fleet.requestSwitchCheck', async (tx) => {
    await lockSwitch(tx, id);
    const { name } = await requireRow(tx, switchById, { id });
    await tx.db.run(beginCheck, { id });
    await record(tx, switchCheckAsked, { ...about(id), data: { name } });
    await enqueue(tx, switchReading, { switchId: id }, { organizationId: null });
    return readSwitch(tx, id);
  });
}

/** Forgets a switch into which no server is plugged; otherwise `conflict`. */
export async function removeSwitch(ctx: Context, id: number) {
  return transaction(ctx, 'fleet.removeSwitch', async (tx) => {
    await lockSwitch(tx, id);
    const { name } = await requireRow(tx, switchById, { id });
    const { count } = await tx.db.one(pluggedIn, { id });
    if (count > 0) {
      const message = `${count === 1 ? 'A server is' : `${count} servers are`} plugged into ${name}; say first where else`;
      throw fail('conflict', { message });
    }
    await tx.db.run(deleteSwitch, { id });
    await record(tx, switchDeleted, { ...about(id), data: { name } });
    return {};
  });
}

async function keepCredential(tx: TxContext, id: number, credential: Credential): Promise<void> {
  const {
    user,
    auth_protocol: authProtocol,
    auth_passphrase: auth,
    privacy_passphrase: privacy,
  } = credential;
  const passphrases = sealPassphrases(tx, id, { auth, privacy });
  await tx.db.run(writeCredential, { id, user, authProtocol, passphrases });
}

/** What no single host answers on. */
const nobodys = new Set(['unspecified', 'broadcast', 'multicast']);

function readAddress(text: string): string {
  if (isIP(text) === 0 || text.includes('%')) throw refuse('address', 'must be an IP address');
  const parsed = ipaddr.process(text);
  if (nobodys.has(parsed.range())) throw refuse('address', 'is no address of a single host');
  return parsed.toString();
}

async function once<T>({ name }: Written, write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    if (isDuplicate(error, 'switches_name'))
      throw fail('conflict', { message: `There is a switch called ${name} already`, cause: error });
    if (isDuplicate(error, 'switches_address'))
      throw fail('conflict', { message: 'There is a switch at this address already', cause: error });
    throw error;
  }
}

export function about(id: number) {
  return { subject: { type: 'switch', id }, organizationId: null };
}
