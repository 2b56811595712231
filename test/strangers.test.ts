import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { runningVps } from './orders.ts';
import { newCustomer, type Person } from './people.ts';
import { startTestProduct, type TestProduct } from './product.ts';
import { settled } from './sql.ts';

let product: TestProduct;
let holder: pg.Client;
beforeAll(async () => {
  product = await startTestProduct();
  holder = new pg.Client({ connectionString: product.databaseUrl });
  await holder.connect();
});
afterAll(async () => {
  await holder.end();
  await product.stop();
});

async function withVps(): Promise<{ person: Person; path: string; serviceId: number }> {
  const person = await newCustomer(product, { creditMinor: 50_000 });
  const { serviceId } = await runningVps(product, person);
  await settled(product);
  return { person, serviceId, path: `/dashboard/service/${serviceId}/vps` };
}

/** While another transaction has the service, as a long change of it would. */
async function whileHeld(serviceId: number, work: () => Promise<void>): Promise<void> {
  await holder.query('begin');
  try {
    await holder.query('select id from services where id = $1 for update', [serviceId]);
    await work();
  } finally {
    await holder.query('rollback');
  }
}

const both: Record<string, string>[] = [{}, { 'if-match': '*' }];

it.each(both)(
  'reverse names that wait for a machine leave others their connections, with %o',
  async (headers) => {
    const busy = await withVps();
    const other = await withVps();
    const { address } = (await busy.person.get(`${busy.path}/ips`)).body.data.ips[0];
    const change = { address, dns_name: 'many.example.com' };
    let waiting: ReturnType<Person['patch']>[] = [];
    await whileHeld(busy.serviceId, async () => {
      waiting = Array.from({ length: 20 }, () => busy.person.patch(`${busy.path}/ips`, change, headers));
      await new Promise((resolve) => setTimeout(resolve, 300));
      expect((await other.person.get(`${other.path}/ips`)).status).toBe(200);
    });
    expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual(Array(20).fill(200));
  },
);

it('a stranger is refused at once, whoever has the machine, and keeps nobody waiting', async () => {
  const mine = await withVps();
  const stranger = await newCustomer(product);
  const { address } = (await mine.person.get(`${mine.path}/ips`)).body.data.ips[0];
  const settings = { auto_backup: { enabled: true, hour: 3, keep: 2 } };
  await whileHeld(mine.serviceId, async () => {
    for (const headers of both) {
      const answers = [
        await stranger.patch(`${mine.path}/settings`, settings, headers),
        await stranger.patch(`${mine.path}/ips`, { address, dns_name: 'x.example.com' }, headers),
        await stranger.delete(`${mine.path}/snapshots/kept`, headers),
        await stranger.post(`${mine.path}/stop`),
      ];
      expect(answers.map(({ status }) => status)).toEqual([403, 403, 403, 403]);
    }
  });
});
