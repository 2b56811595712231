import { expect } from 'vitest';
import { until } from '../product.ts';
import { sql } from '../sql.ts';
import type { RackWorld } from './rackWorld.ts';
import type { Scenario } from './scenarios.ts';
import type { World } from './world.ts';

interface Rented {
  serviceId: number;
  serverId: number;
}

const patienceMs = 180_000;

/** The service of one server goes over to the other one of the rack. */
export function movingServer(rack: RackWorld): Scenario {
  const scenario: Scenario<Rented, Rented> = {
    name: 'move a service to another server',
    arrange: async (world) => {
      await rack.returned.arrange(world);
      const found = await until(
        () => serversOf(world),
        (servers) => servers.filter(({ state }) => state === 'ready').length === 1,
        patienceMs,
      );
      const rented = found.find(({ state }) => state === 'rented');
      if (rented?.service_id == null) throw new Error('nobody has a server');
      return { serviceId: rented.service_id, serverId: rented.id };
    },
    start: async (world, given) => {
      const before = await serversOf(world);
      const { name } = before.find(({ id }) => id === given.serverId) ?? { name: '' };
      const asked = await world.staff.post(`/staff/servers/${given.serverId}/move`, {
        ...{ reason: 'It restarts by itself', confirm: name },
      });
      if (asked.status !== 200) throw new Error(`move: ${asked.status} ${JSON.stringify(asked.body)}`);
      return given;
    },
    done: async (world, _, { serviceId, serverId }) => {
      await until(
        () => serversOf(world),
        (servers) =>
          servers.some(({ id, state }) => id === serverId && state === 'ready') &&
          servers.some((server) => server.service_id === serviceId && server.state === 'rented'),
        patienceMs,
      );
      const moves = await sql(
        world,
        'select moved from dedicated_moves where service_id = $1 and (not moved or moved is null or password is not null)',
        serviceId,
      );
      expect(moves).toEqual([]);
    },
  };
  return scenario as unknown as Scenario;
}

const serversOf = (world: World) =>
  sql<{ id: number; name: string; state: string; service_id: number | null }>(
    world,
    'select id, name, state, service_id from servers where profile_id is not null order by id',
  );
