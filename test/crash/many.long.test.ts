import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { reasonWithoutGuests } from '../../src/drivers/hypervisor/proxmox/testbed.ts';
import { type Many, openMany } from './many.ts';
import { boundariesOf, endOf, orderAt, pick, rest } from './manyOrders.ts';

const reason = await reasonWithoutGuests();
if (reason !== null) console.warn(`Many processes above clusters are not tested: ${reason}`);

/** Three processes with an API and three workers above two clusters. Orders come from many sides at once, and any process dies at any time. */
describe.skipIf(reason !== null)(
  'kill -9 of whichever of three API processes and three workers comes by',
  {
    timeout: 3_600_000,
  },
  () => {
    let many: Many;
    beforeAll(async () => {
      many = await openMany(3, [54, 55]);
    });
    afterAll(() => many?.stop());

    it('ends each order in one machine, and each end in none, at every boundary', async () => {
      const boundaries = await boundariesOf(many);
      expect(boundaries.filter((name) => name.startsWith('vps.provision/')).length).toBeGreaterThan(20);
      const made: number[] = [];
      for (const boundary of boundaries) {
        const deaths = many.deaths();
        made.push(await orderAt(many, boundary));
        // Two may have come by it at the same moment.
        expect(many.deaths() - deaths, boundary).toBeGreaterThan(0);
        expect(await many.audit(), boundary).toEqual([]);
      }
      const [first = 0, ...others] = made;
      many.passed();
      await endOf(many, first, null);
      await rest(many);
      const ofEnds = [...new Set(many.passed())].filter((name) => name.startsWith('vps.terminate'));
      for (const boundary of ofEnds) {
        const deaths = many.deaths();
        await endOf(many, others.shift() ?? 0, boundary);
        // Two may have come by it at the same moment.
        expect(many.deaths() - deaths, boundary).toBeGreaterThan(0);
        expect(await many.audit(), boundary).toEqual([]);
      }
      console.log(`killed at ${boundaries.length} boundaries of an order and ${ofEnds.length} of an end`);
    });

    it('ends all of many at once in machines or in a clean slate, whoever dies meanwhile', async () => {
      const before = many.deaths();
      const stop = new AbortController();
      const killing = (async () => {
        while (!stop.signal.aborted) {
          await sleep(500 + Math.random() * 2_500);
          pick(many.processes, 1)[0]?.kill();
        }
      })();
      const one = async (at: number): Promise<void> => {
        const id = await orderAt(many, null);
        if (at % 2 === 1) await endOf(many, id, null);
      };
      for (let round = 0; round < 4; round += 1)
        await Promise.all(Array.from({ length: 6 }, (_, at) => one(at)));
      stop.abort();
      await killing;
      await rest(many);
      expect(many.deaths() - before).toBeGreaterThan(10);
      expect(await many.audit()).toEqual([]);
      console.log(`${many.deaths() - before} deaths during 24 orders and 12 ends`);
    });
  },
);
