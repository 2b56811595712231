import { record } from '../../events/index.ts';
import { type ListRequest, listData, pagedList } from '../../platform/http/index.ts';
import {
  type Context,
  fail,
  isDuplicate,
  refuse,
  requireRow,
  statement,
  transaction,
} from '../../platform/index.ts';
import { switchPlugged } from '../events.ts';
import { switchById } from './rows.ts';
import { about, lockSwitch } from './staff.ts';

interface PortRow {
  name: string;
  position: number;
  label: string;
  is_up: boolean;
  speed_mbps: number | null;
  in_mbps: number | null;
  out_mbps: number | null;
  server_id: number | null;
  server: string | null;
  mac: string | null;
  read_at: Date;
  gone_at: Date | null;
}

const selectPort = `
  select t.name, t.position, t.label, t.is_up, t.speed_mbps, t.in_mbps, t.out_mbps, t.read_at, t.gone_at, s.id as server_id,
    s.name as server, sp.mac::text as mac
  from switch_ports t left join server_ports sp on sp.switch_id = t.switch_id and sp.switch_port = t.name
    left join servers s on s.id = sp.server_id`;
const ports = pagedList<PortRow>({
  name: 'fleet.switchPorts',
  from: 'switch_ports t',
  select: selectPort,
  within: 't.switch_id = :switchId',
  key: { by: 't.name', type: 'text', of: (row) => row.name },
  sorts: { position: { by: 't.position', type: 'bigint', of: (row) => row.position } },
  order: 'position',
});
const portOfSwitch = statement<PortRow, { switchId: number; port: string }>(
  'fleet.portOfSwitch',
  `${selectPort} where t.switch_id = :switchId and t.name = :port`,
);
const unplug = statement<never, { switchId: number; port: string }>(
  'fleet.unplug',
  'update server_ports set switch_id = null, switch_port = null where switch_id = :switchId and switch_port = :port',
);
const plugIn = statement<{ name: string }, { switchId: number; port: string; mac: string }>(
  'fleet.plugIn',
  `update server_ports p set switch_id = :switchId, switch_port = :port from servers s
   where p.mac = :mac::macaddr and s.id = p.server_id returning s.name`,
);

export async function listSwitchPorts(ctx: Context, id: number, query: ListRequest) {
  await requireRow(ctx, switchById, { id });
  const { rows, at } = await ports(ctx, query, { switchId: id });
  return listData('ports', rows.map(view), at);
}

/**
 * Writes down which port of a server is plugged into a port, or that none is; one that was plugged in elsewhere is there no longer.
 * `invalid_request` where the switch has no such port, or no server such a MAC; `conflict` when another server is plugged in there.
 */
export async function plugSwitchPort(
  ctx: Context,
  id: number,
  { port, mac }: { port: string; mac: string | null },
) {
  return transaction(ctx, 'fleet.plugSwitchPort', async (tx) => {
    await lockSwitch(tx, id);
    const { name } = await requireRow(tx, switchById, { id });
    const before = await tx.db.maybe(portOfSwitch, { switchId: id, port });
    if (before === null) throw refuse('port', `is no port of ${name}`);
    let server = before.server;
    if (mac === null) await tx.db.run(unplug, { switchId: id, port });
    else {
      const plugged = await once(before.server, () => tx.db.maybe(plugIn, { switchId: id, port, mac }));
      if (plugged === null) throw refuse('mac', 'is of no port of a server');
      server = plugged.name;
    }
    await record(tx, switchPlugged, { ...about(id), data: { name, port, server, mac } });
    const after = await requireRow(tx, portOfSwitch, { switchId: id, port });
    return { port: view(after) };
  });
}

async function once<T>(server: string | null, write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    if (!isDuplicate(error, 'server_ports_once')) throw error;
    const message = `${server ?? 'Another server'} is plugged in there; unplug it first`;
    throw fail('conflict', { message, cause: error });
  }
}

function view({ position: _position, ...port }: PortRow) {
  return port;
}
