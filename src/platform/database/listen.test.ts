import net from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { afterEach, expect, it } from 'vitest';
import { testDatabase } from '../../../test/database.ts';
import { createLog } from '../log.ts';
import { listenOn } from './listen.ts';

const log = createLog('silent');
const cleanup: (() => Promise<unknown> | unknown)[] = [];
afterEach(async () => {
  for (const undo of cleanup.splice(0).reverse()) await undo();
});

/** A way to a database that can be cut, and counts who comes. `cut`: whoever comes is sent away. */
async function gate(databaseUrl: string) {
  const { host, port, user, database } = new pg.Client({ connectionString: databaseUrl });
  const state = { cut: false, came: 0 };
  const open = new Set<net.Socket>();
  const server = net.createServer((client) => {
    state.came += 1;
    client.on('error', () => undefined);
    if (state.cut) return client.destroy();
    const behind = host.startsWith('/') ? net.connect(`${host}/.s.PGSQL.${port}`) : net.connect(port, host);
    for (const each of [client, behind]) {
      open.add(each);
      each.on('error', () => undefined);
      each.on('close', () => open.delete(each));
    }
    client.pipe(behind).pipe(client);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  cleanup.push(() => server.close());
  const { port: ours } = server.address() as net.AddressInfo;
  const cut = () => {
    state.cut = true;
    for (const each of open) each.destroy();
  };
  return { url: `postgresql://${user}@127.0.0.1:${ours}/${database}`, state, cut };
}

it('a listener whose database is away asks for it again one at a time, and listens once when it is back', async () => {
  const database = await testDatabase();
  cleanup.push(() => database.drop());
  const way = await gate(database.url);
  const heard: string[] = [];
  const stop = await listenOn(way.url, 'away', (message) => heard.push(message), log);
  cleanup.push(stop);
  way.cut();
  await pause(2_500);
  expect(way.state.came).toBeLessThanOrEqual(12); // one each quarter of a second, and the first
  way.state.cut = false;
  const cameBefore = way.state.came;
  await expect.poll(() => heard.length, { timeout: 5_000 }).toBe(2);
  await pause(600);
  expect(way.state.came).toBe(cameBefore + 1);
});

it('a listener that cannot begin says so, and asks no more', async () => {
  const database = await testDatabase();
  cleanup.push(() => database.drop());
  const way = await gate(database.url);
  way.cut();
  await expect(listenOn(way.url, 'never', () => undefined, log)).rejects.toThrow();
  await pause(800);
  expect(way.state.came).toBe(1);
});
