/** PostgreSQL with a synchronous standby as Patroni keeps it, one address in front, and a primary that dies while customers order. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Load, startLoad } from './load.ts';
import { patroniTree, withoutPatroni } from './patroni/here.ts';
import { type Installation, startInstallation } from './patroni/installation.ts';
import { losePrimary } from './patroni/losePrimary.ts';
import { until } from './product.ts';
import { sql } from './sql.ts';
import { expectWhole } from './whole.ts';

if (withoutPatroni !== null) console.log(`A primary that dies is NOT tested here: ${withoutPatroni}`);

describe.skipIf(withoutPatroni !== null)('a PostgreSQL that fails over', { timeout: 300_000 }, () => {
  let installation: Installation;
  beforeAll(async () => {
    installation = await startInstallation(patroniTree);
  });
  afterAll(() => installation?.close());

  const orders = (load: Load, more: number) => {
    const before = load.ordered.length;
    return until(
      async () => load.ordered.length,
      (now) => now >= before + more,
      90_000,
    );
  };
  const failing = async ({ url }: { url: string }): Promise<unknown[]> => {
    const { data } = (await (await fetch(`${url}/readyz`)).json()) as { data: { checks: { ok: boolean }[] } };
    return data.checks.filter(({ ok }) => !ok);
  };

  const loads: Load[] = [];
  /** Customers order through `trouble` and for a while after it; then all is as if there had been none. */
  const orderThrough = async (trouble: (load: Load) => Promise<unknown>) => {
    const { bed, shop, apis, worker } = installation;
    const load = startLoad(shop, 4);
    loads.push(load);
    await orders(load, 5);
    await trouble(load);
    await orders(load, 10);
    for (const each of [...apis, worker])
      await until(
        () => failing(each),
        (checks) => checks.length === 0,
      );
    await load.stop();
    console.log(`refused ${JSON.stringify([...load.refused])}, ${load.ordered.length} orders`);
    expect(load.wrong).toEqual([]);
    await expectWhole(bed.url, ...loads);
    // No number is of a series that begins where something may have been lost.
    const series = await sql({ databaseUrl: bed.url }, 'select prefix from invoice_series');
    expect(series).toEqual([{ prefix: expect.stringMatching(/^\d{4}-$/) }]);
  };

  it('loses no paid order and no number when its primary dies; everything goes on by itself, and the old one comes back', async () => {
    const { bed } = installation;
    await orderThrough(async (load) => {
      const { primary, standby, bareMs, checkoutMs } = await losePrimary(bed, load);
      console.log(`written again after ${bareMs} ms, ordered after ${checkoutMs} ms`);
      primary.start();
      const now = await bed.settled();
      expect([now.primary.name, now.standby.name]).toEqual([standby.name, primary.name]);
    });
  });

  it('loses nothing either when an operator hands over', async () => {
    const { bed } = installation;
    await orderThrough(async () => {
      const { primary, standby } = await bed.settled();
      await bed.switchOver();
      await until(
        bed.settled,
        (now) => now.primary.name === standby.name && now.standby.name === primary.name,
      );
    });
  });
});
