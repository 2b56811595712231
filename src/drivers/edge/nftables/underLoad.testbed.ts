import type { Edge, Packet, Policy } from '../contract.ts';
import type { EdgeNetwork } from '../suite/network.testbed.ts';

export function denyAll(destination: string, generation: number): Policy {
  return {
    destination,
    generation,
    rules: [{ id: 1, action: 'deny', match: {}, limit: null }],
    unmatched: 'permit',
  };
}

export interface Load {
  sent: number;
  arrived: number;
  /** By the rule, over all writings, each forgotten once it was added up. */
  counted: number;
  replaced: number;
}

/** Replaces a policy that denies everything without pause, while packets to it are sent as fast as they can be, for so many seconds and replacements at least. */
export async function replacedUnderLoad(
  network: EdgeNetwork,
  edge: Edge,
  packet: Packet,
  least: { seconds: number; replacements: number },
): Promise<Load> {
  const { destination } = packet;
  await edge.replace([denyAll(destination, 0)]);
  const load: Load = { sent: 0, arrived: 0, counted: 0, replaced: 0 };
  const replaceOnce = async () => {
    load.replaced += 1;
    await edge.replace([denyAll(destination, load.replaced)]);
    const done = (await edge.readRules([destination])).filter((each) => each.isOver);
    load.counted += done.reduce((sum, { packets }) => sum + packets, 0);
    await edge.forget(done.map(({ writing }) => writing));
  };
  do {
    let isOver = false;
    const flood = network.flood([packet], least.seconds).finally(() => {
      isOver = true;
    });
    while (!isOver) await replaceOnce();
    const told = await flood;
    load.sent += told.sent;
    load.arrived += told.arrived;
  } while (load.replaced < least.replacements);
  const left = await edge.readRules([destination]);
  load.counted += left.reduce((sum, { packets }) => sum + packets, 0);
  return load;
}
