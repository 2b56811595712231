import { startLoad } from '../test/load.ts';
import { startInstallation } from '../test/patroni/installation.ts';
import { losePrimary } from '../test/patroni/losePrimary.ts';
import { ensurePatroniTree } from '../test/patroni/tree.ts';
import { undo } from './house.ts';
import { type Pair, ratiosOf, spreadOf } from './measure.ts';
import type { Figure } from './table.ts';

const customers = 2;

/** A PostgreSQL with a synchronous standby under Patroni loses its primary, again and again, while customers order. */
export async function measureFailover(rounds: number): Promise<Figure[]> {
  const { bed, shop, close } = await startInstallation(await ensurePatroniTree());
  undo.push(close);
  const load = startLoad(shop, customers);
  const pairs: Pair[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const { primary, bareMs, checkoutMs } = await losePrimary(bed, load);
    pairs.push({ ours: checkoutMs, theirs: bareMs });
    primary.start();
  }
  await load.stop();
  if (load.wrong.length > 0) throw new Error(`a failover was no mere pause: ${load.wrong[0]}`);
  undo.splice(undo.indexOf(close), 1);
  await close();
  const seconds = (key: keyof Pair) => (spreadOf(pairs.map((pair) => pair[key])).median / 1_000).toFixed(1);
  return [
    {
      name: 'Primary lost, to the first checkout',
      against: 'the first write of a bare client through the same address',
      value: ratiosOf(pairs),
      unit: 'ratio',
      target: { atMost: 1.3 },
      amounts: `${seconds('ours')} s against ${seconds('theirs')} s, medians of ${rounds} rounds`,
      limit: 'how long Patroni keeps the place of a primary that says nothing (`ttl`, 20 s here)',
    },
  ];
}
