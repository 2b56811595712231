import { hash } from 'node:crypto';
import {
  type HypervisorCapability,
  HypervisorError,
  type HypervisorOf,
} from '../../drivers/hypervisor/index.ts';
import type { Seen, Watch } from '../../events/index.ts';
import type { Bytes } from '../../platform/http/index.ts';
import { fail, type OrganizationContext, statement } from '../../platform/index.ts';
import { requireCapability } from '../capabilities.ts';
import { machineIdOf } from '../machine.ts';
import { requireVps } from '../queries.ts';
import { requireShown } from './open.ts';

/** What is on a machine's screen now. `unavailable` when the machine does not show it, as one that hangs. */
export async function readScreen(
  ctx: OrganizationContext,
  id: number,
  hypervisorOf: HypervisorOf,
): Promise<Bytes> {
  const vps = await requireVps(ctx, id);
  requireCapability(vps, 'vnc');
  requireShown(vps, 'a screen needs');
  try {
    const body = await hypervisorOf(vps.node_id ?? 0).readScreen(machineIdOf(id, vps.incarnation ?? 1));
    return { body, isStrangers: true };
  } catch (error) {
    if (!(error instanceof HypervisorError)) throw error;
    if (error.code === 'not_running')
      throw fail('action_not_allowed', {
        message: 'The machine is not running; a screen needs a running machine',
      });
    const message = 'The machine does not show its screen right now; try again shortly';
    throw fail('unavailable', { message, cause: error });
  }
}

interface Shown {
  id: number;
  organization_id: number;
  node_id: number | null;
  incarnation: number;
  capabilities: HypervisorCapability[] | null;
  is_shown: boolean;
}

const shownOf = statement<Shown, { ids: number[] }>(
  'vps.shownOf',
  `select s.id, s.organization_id, m.node_id, m.incarnation, n.capabilities,
     s.status = 'active' and m.state in ('running', 'restarting') as is_shown
   from services s join machines m on m.service_id = s.id left join nodes n on n.id = m.node_id
   where s.id = any(:ids::bigint[])`,
);

/**
 * How the screens of machines look, for who has their pages open. Two pictures of the same pixels have the same bytes, since
 * nothing else is in them: what differs is something that is to be seen, be it a blinking cursor.
 */
export const screenWatch: Watch = {
  kind: 'vps',
  event: 'vps.screen',
  permission: 'vps.manage',
  isWork: true,
  // Taking a picture stops the guest for a moment.
  everyMs: 4_000,
  require: requireVps,
  since: async (ctx, watched, { hypervisor }) => {
    // A process without machines of its own shows none, and opens no console either.
    if (hypervisor === undefined) return [];
    const machines = await ctx.db.many(shownOf, { ids: watched.map(({ id }) => id) });
    const seen = async ({ id, organization_id: organizationId, ...machine }: Shown): Promise<Seen> => {
      const look = await lookOf(id, machine, hypervisor);
      return { id, organizationId, time: ctx.clock.now(), look };
    };
    return Promise.all(machines.map(seen));
  },
};

/** How a screen looks that the machine does not show, as one that hangs: whoever reads it anew is told so. */
const broken = 'broken';

/** Null when nothing is to be seen: of a machine that is off. */
async function lookOf(
  id: number,
  { is_shown: isShown, node_id: nodeId, incarnation, capabilities }: Omit<Shown, 'id' | 'organization_id'>,
  hypervisorOf: HypervisorOf,
): Promise<string | null> {
  if (!isShown || nodeId === null || capabilities?.includes('vnc') === false) return null;
  try {
    return hash('sha256', await hypervisorOf(nodeId).readScreen(machineIdOf(id, incarnation)), 'base64url');
  } catch (error) {
    if (error instanceof HypervisorError) return error.code === 'not_running' ? null : broken;
    throw error;
  }
}
