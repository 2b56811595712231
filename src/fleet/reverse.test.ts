import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runningVps } from '../../test/orders.ts';
import { startTestProduct, type TestProduct, until } from '../../test/product.ts';
import { contents, settled, sql } from '../../test/sql.ts';
// A real name server: what a resolver sees is the guarantee.
import { type PowerDnsServer, startPowerDns, withoutPowerDns } from '../drivers/dns/testbed.ts';
import { transaction } from '../platform/index.ts';
import { listAddresses, releaseAddresses } from './addresses.ts';
import { setReverseName } from './reverse.ts';

describe.skipIf(withoutPowerDns !== null)('the name of an address', () => {
  let server: PowerDnsServer;
  let product: TestProduct;
  beforeAll(async () => {
    server = await startPowerDns();
    await server.addZone('77.10.in-addr.arpa.');
    await server.addZone('7.7.d.f.ip6.arpa.');
    product = await startTestProduct({ env: { DNS_URL: server.url, DNS_API_KEY: server.apiKey } });
  });
  afterAll(async () => {
    await product?.stop();
    await server?.close();
  });

  const vps = async () => {
    const { serviceId } = await runningVps(product, product.customer, { option5: 1 });
    const [v4 = '', v6 = ''] = (await listAddresses(product.ctx, serviceId)).map((each) => each.address);
    return { serviceId, v4, v6 };
  };
  const name = (serviceId: number, address: string, to: string | null) =>
    transaction(product.ctx, 'test.name', (tx) => setReverseName(tx, serviceId, address, to));
  const resolves = (address: string, names: string[]) =>
    until(
      () => server.ask(address),
      (seen) => JSON.stringify(seen) === JSON.stringify(names),
    );

  it('is what the world sees, IPv4 and IPv6, however it was written', async () => {
    const { serviceId, v4, v6 } = await vps();
    await name(serviceId, v4, 'Web1.Example.com');
    await name(serviceId, v6.toUpperCase(), 'web1.example.com');
    await resolves(v4, ['web1.example.com']);
    await resolves(v6, ['web1.example.com']);
    await name(serviceId, v4, null);
    await resolves(v4, []);
    expect(await server.ask(v6)).toEqual(['web1.example.com']);
  });

  it('ends as the last of many changes at once', { timeout: 90_000 }, async () => {
    const { serviceId, v4 } = await vps();
    await Promise.all(Array.from({ length: 20 }, (_, nth) => name(serviceId, v4, `n${nth}.example.com`)));
    const [row] = await sql<{ dns_name: string }>(
      product,
      'select dns_name from addresses where host(address) = $1',
      v4,
    );
    await until(
      () => sql(product, `select 1 from jobs where name = 'dns.reverse' and state in ('ready', 'running')`),
      (open) => open.length === 0,
      60_000,
    );
    expect(await server.ask(v4)).toEqual([row?.dns_name]);
  });

  it('goes with the address: the next to have it starts without one', async () => {
    const { serviceId, v4 } = await vps();
    await name(serviceId, v4, 'mine.example.com');
    await resolves(v4, ['mine.example.com']);
    await releaseAddresses(product.ctx, serviceId);
    await resolves(v4, []);
  });

  it('arrives when the name server was away', async () => {
    const { serviceId, v4 } = await vps();
    const comeBack = await server.away();
    await name(serviceId, v4, 'late.example.com');
    await until(
      () =>
        sql<{ state: string; attempts: number; error_message: string | null }>(
          product,
          `select state, attempts, error_message from jobs where name = 'dns.reverse' order by id desc limit 1`,
        ),
      (rows) => (rows[0]?.attempts ?? 0) > 0,
    );
    // With the zones that it had: one that answers and has none is no outage, and no name is carried there.
    await comeBack();
    // The pauses between tries grow, and one that began before may fail only now.
    const askLater = () => {
      product.clock.travel(60_000);
      return server.ask(v4);
    };
    await until(askLater, (seen) => seen.join() === 'late.example.com');
  });

  it('of another service, or no hostname, is refused and nothing changes', async () => {
    const [one, other] = [await vps(), await vps()];
    await settled(product);
    const before = await contents(product);
    for (const address of [other.v4, '10.77.0.1', 'x', '', `${one.v4}/32`, "1'; --"])
      await expect(name(one.serviceId, address, 'a.example.com'), address).rejects.toMatchObject({
        code: 'not_found',
      });
    for (const bad of [
      '',
      'a',
      'a b.com',
      'a..b',
      '-a.example.com',
      'a.example.com.',
      `${'a'.repeat(64)}.com`,
    ])
      await expect(name(one.serviceId, one.v4, bad), bad).rejects.toMatchObject({ code: 'invalid_domain' });
    expect(await contents(product)).toEqual(before);
  });
});
