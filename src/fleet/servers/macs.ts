import { fail, refuse, statement, type TxContext } from '../../platform/index.ts';

const forget = statement<never, { serverId: number; macs: string[] }>(
  'fleet.forgetServerPorts',
  'delete from server_ports where server_id = :serverId and mac <> all(:macs::macaddr[])',
);
// Out of the way of the new ones, since no two stand in one place.
const makeWay = statement<never, { serverId: number }>(
  'fleet.makeWayForPorts',
  'update server_ports set position = -position where server_id = :serverId',
);
const insert = statement<never, { serverId: number; macs: string[] }>(
  'fleet.insertServerPorts',
  `insert into server_ports (server_id, mac, position)
   select :serverId, mac::macaddr, position from unnest(:macs::text[]) with ordinality given (mac, position)
   on conflict (mac) do update set position = excluded.position where server_ports.server_id = excluded.server_id`,
);
const ownerOf = statement<{ name: string; mac: string }, { serverId: number; macs: string[] }>(
  'fleet.serverOfMac',
  `select s.name, p.mac::text as mac from server_ports p join servers s on s.id = p.server_id
   where p.mac = any(:macs::macaddr[]) and s.id <> :serverId order by p.mac limit 1`,
);

/** MACs as they are kept, each once. `invalid_request` where one of them is nobody's own. */
export function readMacs(texts: readonly string[]): string[] {
  const macs = texts.map((text) => text.toLowerCase().replaceAll('-', ':'));
  for (const [at, mac] of macs.entries()) {
    const isForMany = (Number.parseInt(mac, 16) & 1) === 1;
    if (isForMany || mac === '00:00:00:00:00:00')
      throw refuse(`macs[${at}]`, 'is no address of a single port');
    if (macs.indexOf(mac) !== at) throw refuse(`macs[${at}]`, 'is there twice');
  }
  return macs;
}

/** Writes down which ports a server has; those that it had stay where they are plugged in. `conflict` when another has one of them. */
export async function keepMacs(tx: TxContext, serverId: number, macs: readonly string[]): Promise<void> {
  const wanted = [...macs];
  await tx.db.run(forget, { serverId, macs: wanted });
  await tx.db.run(makeWay, { serverId });
  const written = await tx.db.run(insert, { serverId, macs: wanted });
  if (written === wanted.length) return;
  await refuseMacsElsewhere(tx, serverId, wanted);
  throw new Error('a port of a server could be written down neither as its own nor as another’s');
}

/** `conflict` when another server has one of these MACs. */
export async function refuseMacsElsewhere(tx: TxContext, serverId: number, macs: readonly string[]) {
  const other = await tx.db.maybe(ownerOf, { serverId, macs: [...macs] });
  if (other !== null) throw fail('conflict', { message: `${other.mac} is a port of ${other.name} already` });
}
