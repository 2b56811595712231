import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../../../test/product.ts';
import { sql } from '../../../test/sql.ts';
import type { Packet } from '../../drivers/edge/index.ts';
import { transaction } from '../../platform/index.ts';
import { datagram, watched } from '../attacks/flood.testbed.ts';
import { single } from '../prefix.ts';
import { newTenant, packet, type ShieldedProduct, startShielded, type Tenant } from '../testbed.ts';
import { look } from '../watch/samples.ts';
import { keepFlows, packMinute } from './keep.ts';
import { addSamples, type MinuteFlows } from './minute.ts';
import { unpack } from './pack.ts';
import { packetOf } from './readable.ts';

let product: ShieldedProduct;
let tenant: Tenant;
beforeAll(async () => {
  product = await startShielded();
  tenant = await newTenant(product);
  await watched(product, tenant.address);
  await watched(product, tenant.address6);
});
afterAll(() => product.stop());

interface Row {
  address: string;
  organization_id: number;
  count: number;
  flows: Buffer;
}

function rowsOf(address: string): Promise<Row[]> {
  return sql<Row>(
    product,
    `select host(address) as address, organization_id, count, flows from shield_flows where address = $1::inet order by time`,
    address,
  );
}

const flowsIn = (rows: Row[]) =>
  rows.flatMap(({ address, flows }) => {
    const { family, first } = single(address);
    return unpack(flows, family, family === 4 ? Number(first) : first).map((flow) => ({
      ...packetOf(flow.head, family),
      ...{ packets: flow.packets, samples: flow.samples },
    }));
  });

/** Sends packets, and waits until minutes are written down in which so many were counted. */
async function kept(address: string, sent: readonly Packet[]) {
  for (const each of sent) product.edge.pass(each);
  return until(
    async () => {
      product.clock.travel(20_000);
      return flowsIn(await rowsOf(address));
    },
    (flows) => flows.reduce((sum, { packets }) => sum + packets, 0) >= sent.length,
    60_000,
  );
}

describe('flows', () => {
  it('are kept by the minute, with all that rules can see of packets', { timeout: 120_000 }, async () => {
    for (const [address, source] of [
      [tenant.address, '198.51.100.77'],
      [tenant.address6, '2001:db8:77::77'],
    ] as const) {
      const udp = datagram(address, { source, length: 1_300, ttl: 7, dscp: 46, ecn: 1 });
      const syn = packet(address, { source });
      const part = packet(address, { source, protocol: 17, ports: null, flags: null, fragment: true });
      const flows = await kept(address, [udp, udp, udp, syn, part]);
      const packets = new Map(flows.map((flow) => [JSON.stringify(flow), flow.packets]));
      expect([...packets.values()].toSorted()).toEqual([1, 1, 3]);
      expect(flows).toContainEqual({
        ...{ source, protocol: 17, source_port: 40_000, destination_port: 9, flags: null },
        ...{ dscp: 46, ecn: 1, ttl: 7, length: 1_300, fragment: false, packets: 3, samples: 3 },
      });
      expect(flows).toContainEqual(
        expect.objectContaining({ protocol: 6, destination_port: 22, flags: ['syn'], packets: 1 }),
      );
      expect(flows).toContainEqual(
        expect.objectContaining({ protocol: 17, source_port: null, fragment: true, packets: 1 }),
      );
    }
  });

  it('are exported in words, and nobody else’s', { timeout: 60_000 }, async () => {
    const other = await newTenant(product);
    const exported = async (who: Tenant) => {
      const { body } = await who.get('/dashboard/account/export');
      return body.data.tables.shield_flows as { address: string; flows: Record<string, unknown>[] }[];
    };
    const own = await exported(tenant);
    expect(new Set(own.map(({ address }) => address))).toEqual(new Set([tenant.address, tenant.address6]));
    expect(own.flatMap(({ flows }) => flows)).toContainEqual(
      expect.objectContaining({ source: '198.51.100.77', source_port: 40_000, flags: ['syn'], packets: 1 }),
    );
    expect(await exported(other)).toEqual([]);
  });

  it('stay with whose the address was, also within one minute', async () => {
    const other = await newTenant(product);
    const [address, time] = ['198.51.100.200', new Date(product.clock.now().getTime() - 60_000)];
    const minute: MinuteFlows = new Map();
    for (const { organizationId, source } of [
      { organizationId: tenant.organizationId, source: '192.0.2.1' },
      { organizationId: other.organizationId, source: '192.0.2.2' },
    ]) {
      const whose = new Map([[address, { organization_id: organizationId }]]);
      const sample = (destination: string) =>
        look({ packet: datagram(destination, { source }), standsFor: 8 });
      addSamples(minute, [sample(address), sample(address), sample('192.0.2.99')], whose);
    }
    const packed = await packMinute(minute);
    // Written again it changes nothing.
    for (let round = 0; round < 2; round += 1)
      await transaction(product.ctx, 'test.keepFlows', (tx) => keepFlows(tx, time, packed));
    const rows = await rowsOf(address);
    expect(rows.map(({ organization_id }) => organization_id).toSorted()).toEqual(
      [tenant.organizationId, other.organizationId].toSorted(),
    );
    for (const row of rows) {
      const source = row.organization_id === tenant.organizationId ? '192.0.2.1' : '192.0.2.2';
      expect(flowsIn([row])).toMatchObject([{ source, packets: 16, samples: 2 }]);
    }
  });

  it('are forgotten once they are kept no longer, an hour unless staff says otherwise', async () => {
    const count = async () => (await rowsOf(tenant.address6)).length;
    expect(await count()).toBeGreaterThan(0);
    product.clock.travel(55 * 60_000);
    await product.periodic('shield.forgetTraffic');
    expect(await count()).toBeGreaterThan(0);
    product.clock.travel(40 * 60_000);
    await product.periodic('shield.forgetTraffic');
    expect(await count()).toBe(0);
  });
});
