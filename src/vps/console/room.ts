import { Duplex } from 'node:stream';
import {
  type ConsoleRoom,
  endings,
  type OpenForOthers,
  openerMay,
  ownAddress,
  ownProcess,
  type Ticket,
} from '../../consoles/index.ts';
import type { HypervisorOf } from '../../drivers/hypervisor/index.ts';
import { type Context, statement } from '../../platform/index.ts';
import { machineIdOf } from '../machine.ts';
import { type ConsoleLines, consoleLines, LineElsewhere } from './lines/lines.ts';

/** What the route wants of whoever opens a console; keeping it open takes the same. */
const permission = 'vps.manage';

interface Shown {
  node_id: number;
  incarnation: number;
  /** Null: its node is a host of ours. */
  cluster_id: number | null;
}

// What must still hold of the machine while a console is open; whoever opened it is asked about beside it.
const shownNow = statement<Shown, { organizationId: number; serviceId: number }>(
  'vps.consoleShown',
  `select m.node_id, m.incarnation, (select n.cluster_id from nodes n where n.id = m.node_id) as cluster_id
   from services s join machines m on m.service_id = s.id
   where s.id = :serviceId and s.organization_id = :organizationId and s.status = 'active'`,
);

/** Consoles of machines. Lines that this process holds are passed on to others of ours at `server`. */
export function machineConsoles(
  ctx: Context,
  server: Parameters<typeof ownAddress>[1],
  hypervisorOf: HypervisorOf,
): { room: ConsoleRoom; forOthers: OpenForOthers } {
  const process = ownProcess(ctx.config);
  const lines = consoleLines(ctx, hypervisorOf, () => ({ process, address: ownAddress(ctx.config, server) }));
  const mayLook = (ticket: Ticket) => openerMay(ctx, ticket, permission);
  const room: ConsoleRoom = {
    isOf: ({ serviceId, serverId }) => serviceId !== null && serverId === null,
    find: async (ticket) => {
      const shown = await findShown(ctx, ticket);
      const { serviceId, kind } = ticket;
      if (shown === null || serviceId === null || !(await mayLook(ticket))) return null;
      return {
        of: `machine ${serviceId}`,
        open: () => openLine(serviceId, shown, kind, { hypervisorOf, lines }),
        whyOver: async () =>
          (await findShown(ctx, ticket)) !== null && (await mayLook(ticket)) ? null : endings.accessEnded,
        whyNone: async (error) =>
          endings.none(
            error instanceof LineElsewhere ? heldElsewhere : 'the machine has no console right now',
          ),
        whyEnded: async () => endings.ended,
      };
    },
    close: () => lines.close(),
  };
  return { room, forOthers: machinesToOthers(hypervisorOf, lines) };
}

/** What this process shows of machines to others of ours: lines that it holds, consoles and screens of its node, and how machines there are. */
export function machinesToOthers(
  hypervisorOf: HypervisorOf,
  lines: Pick<ConsoleLines, 'join'> = { join: () => null },
): OpenForOthers {
  return (wanted) => {
    if (wanted.what === 'line') return lines.join(wanted.serviceId);
    if (wanted.what === 'server' || wanted.what === 'nothing') return null;
    if (wanted.what === 'machine') return reportOf(hypervisorOf, wanted);
    const { serviceId, what, nodeId } = wanted;
    return shownOf(serviceId, what, nodeId, hypervisorOf);
  };
}

async function reportOf(
  hypervisorOf: HypervisorOf,
  { machine, nodeId }: { machine: string; nodeId: number },
): Promise<Duplex> {
  return Duplex.from([Buffer.from(JSON.stringify(await hypervisorOf(nodeId).inspect(machine)))]);
}

async function shownOf(
  serviceId: number,
  what: 'serial' | 'vnc' | 'screen',
  nodeId: number,
  hypervisorOf: HypervisorOf,
): Promise<Duplex> {
  const machine = machineIdOf(serviceId);
  const hypervisor = hypervisorOf(nodeId);
  if (what !== 'screen') return hypervisor.openConsole(machine, what);
  return Duplex.from([await hypervisor.readScreen(machine)]);
}

async function findShown(ctx: Context, { organizationId, serviceId }: Ticket): Promise<Shown | null> {
  if (organizationId === null || serviceId === null) return null;
  return ctx.db.maybe(shownNow, { organizationId, serviceId });
}

const heldElsewhere =
  'another process has this console and cannot be reached from here; try again, or ask your provider';

/** Clusters let one viewer in to a serial line, and any number to a screen; a host of ours shares its lines by itself. */
function openLine(
  id: number,
  { incarnation, node_id: nodeId, cluster_id: clusterId }: Shown,
  kind: Ticket['kind'],
  { hypervisorOf, lines }: { hypervisorOf: HypervisorOf; lines: ConsoleLines },
): Promise<Duplex> {
  if (clusterId !== null && kind === 'serial') return lines.open(id);
  return hypervisorOf(nodeId).openConsole(machineIdOf(id, incarnation), kind);
}
