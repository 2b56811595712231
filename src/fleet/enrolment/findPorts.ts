import { serially } from '../../drivers/index.ts';
import type { Inventory } from '../../drivers/installer/index.ts';
import { type Context, type Drivers, saga, statement, type TxContext } from '../../platform/index.ts';
import { connectionOf, type SwitchRow, selectSwitch } from '../switches/rows.ts';

/** A port of a switch at which a MAC was heard. */
export interface Plugged {
  mac: string;
  switch_id: number;
  switch: string;
  switch_port: string;
}

/** Machines come by the dozen, and a switch has one small processor. */
const inTurn = serially();

interface Payload {
  arrivalId: number;
}

interface State {
  plugged: Plugged[];
}

const inventoryOf = statement<{ inventory: Inventory }, { id: number }>(
  'fleet.inventoryOfArrival',
  'select inventory from server_arrivals where id = :id',
);
const readable = statement<SwitchRow>(
  'fleet.readableSwitches',
  `${selectSwitch} where t.check_state = 'ok' order by t.id limit 500`,
);
const write = statement<never, { id: number; plugged: string }>(
  'fleet.writePlugged',
  'update server_arrivals set plugged = :plugged::jsonb where id = :id',
);

/** Asks the switches at which of their ports a machine of the waiting list was heard. One that does not answer has heard of none. */
export const findingPorts = saga<Payload, State>({
  name: 'fleet.findPorts',
  queue: 'racks',
  steps: [
    {
      name: 'ask',
      do: async ({ ctx, drivers, payload }) => {
        const row = await ctx.db.maybe(inventoryOf, { id: payload.arrivalId });
        const macs = row?.inventory.ports.map((port) => port.mac) ?? [];
        return { plugged: await findPorts(ctx, drivers, macs) };
      },
    },
  ],
  succeeded: async (tx: TxContext, { arrivalId }, { plugged = [] }) => {
    await tx.db.run(write, { id: arrivalId, plugged: JSON.stringify(plugged) });
  },
});

async function findPorts(ctx: Context, drivers: Drivers, macs: readonly string[]): Promise<Plugged[]> {
  const heard: Plugged[] = [];
  for (const row of await ctx.db.many(readable)) {
    await inTurn(String(row.id), async () => {
      const opened = drivers.switch(await connectionOf(ctx, row));
      try {
        for (const mac of macs) {
          const port = await opened.findPort(mac);
          if (port !== null) heard.push({ mac, switch_id: row.id, switch: row.name, switch_port: port });
        }
      } catch (error) {
        if (!(error instanceof Error && 'waits' in error)) throw error;
        ctx.log.warn({ switch: row.id, reason: error.message }, 'a switch did not say where machines are');
      } finally {
        await opened.close();
      }
    });
  }
  // Through a cable between switches both hear it: then nobody knows where it is plugged in.
  return heard.filter(({ mac }) => heard.filter((other) => other.mac === mac).length === 1);
}
