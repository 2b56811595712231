import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { describeReverseDns } from './conformance.ts';
import { powerDns } from './index.ts';
import { type PowerDnsServer, startPowerDns, withoutPowerDns } from './testbed.ts';

describeReverseDns(
  'PowerDNS',
  async () => {
    const server = await startPowerDns();
    await server.addZone('2.0.192.in-addr.arpa.');
    await server.addZone('8.b.d.0.1.0.0.2.ip6.arpa.');
    return {
      dns: powerDns(server),
      address4: '192.0.2.7',
      address6: '2001:db8::7',
      ask: server.ask,
      close: server.close,
    };
  },
  withoutPowerDns,
);

describe.skipIf(withoutPowerDns !== null)('PowerDNS', () => {
  let server: PowerDnsServer;
  beforeAll(async () => {
    server = await startPowerDns();
  });
  afterAll(() => server?.close());

  it('writes into the longest zone that holds the address, and into no other', async () => {
    await server.addZone('10.in-addr.arpa.');
    await server.addZone('77.10.in-addr.arpa.');
    const dns = powerDns(server);
    await dns.setName('10.77.0.9', 'long.example.com');
    await dns.setName('10.177.0.9', 'short.example.com');
    expect(await server.ask('10.77.0.9')).toEqual(['long.example.com']);
    expect(await server.ask('10.177.0.9')).toEqual(['short.example.com']);
    const zone = await fetch(`${server.url}/api/v1/servers/localhost/zones/10.in-addr.arpa.`, {
      headers: { 'x-api-key': server.apiKey },
    });
    expect(await zone.text()).not.toContain('long.example.com');
  });

  it('says for good that no zone holds an address', async () => {
    await expect(powerDns(server).setName('198.51.100.1', 'a.example.com')).rejects.toEqual(
      expect.objectContaining({ code: 'zone_absent', permanent: true }),
    );
  });

  it('fails for good with a wrong key, and never names it', async () => {
    const dns = powerDns({ ...server, apiKey: 'wrong-canary-key' });
    const error = await dns.setName('10.77.0.9', null).catch((thrown: Error) => thrown);
    expect(error).toMatchObject({ code: 'dns_refused', permanent: true });
    expect(String(error)).not.toContain('canary');
  });

  it('fails for now when nobody answers', async () => {
    const dns = powerDns({ ...server, url: 'http://127.0.0.1:9' });
    await expect(dns.setName('10.77.0.9', null)).rejects.toEqual(
      expect.objectContaining({ code: 'dns_unreachable', permanent: false }),
    );
  });
});
