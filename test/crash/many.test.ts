import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { reasonWithoutGuests } from '../../src/drivers/hypervisor/proxmox/testbed.ts';
import { type Many, openMany } from './many.ts';
import { boundariesOf, orderAt, pick } from './manyOrders.ts';

/**
 * The main job above two clusters, with any of six processes killed where it comes by a boundary. `many.long.test.ts` has every boundary,
 * and processes that die at any moment besides.
 */
const reason = await reasonWithoutGuests();
if (reason !== null) console.warn(`Many processes above clusters are not tested: ${reason}`);

describe.skipIf(reason !== null)(
  'kill -9 of whichever of three API processes and three workers comes by',
  {
    timeout: 180_000,
  },
  () => {
    let many: Many;
    beforeAll(async () => {
      many = await openMany(3, [52, 53]);
    });
    afterAll(() => many?.stop());

    it('ends each order in one machine, whole and wanted, at a random few of the boundaries', async () => {
      const boundaries = await boundariesOf(many);
      for (const boundary of pick(boundaries, 4)) {
        const deaths = many.deaths();
        await orderAt(many, boundary);
        // Two may have come by it at the same moment.
        expect(many.deaths() - deaths, boundary).toBeGreaterThan(0);
        expect(await many.audit(), boundary).toEqual([]);
      }
    });
  },
);
