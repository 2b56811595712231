import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Packet } from '../../drivers/edge/index.ts';
import { attacksOf, datagram, touchy } from '../attacks/flood.testbed.ts';
import { type DrivenProduct, newestAttack, startDriven } from '../mitigation/driven.testbed.ts';
import { newTenant, packet, type Tenant } from '../testbed.ts';

let product: DrivenProduct;
let tenant: Tenant;
beforeAll(async () => {
  product = await startDriven();
  tenant = await newTenant(product);
  // An attack from 200 packets a second of a kind on.
  await touchy(tenant);
  await product.seconds(4);
});
afterAll(() => product.stop());

const hosts = (count: number) =>
  Array.from({ length: count }, (_, nth) => `198.51.${100 + (nth >> 8)}.${nth & 255}`);
const quicFrom = (source: string): Packet =>
  datagram(tenant.address, { source, ports: { source: 443, destination: 51_000 }, length: 1_250 });

describe('what somebody asked for', () => {
  it('is no attack: a download by TCP, one like QUIC by UDP, and the traffic of a game', async () => {
    const tcp = packet(tenant.address, { source: '198.51.100.7', flags: ['ack'], length: 1_500 });
    const players = hosts(30).map((source, nth): [Packet, number] => {
      const ports = { source: 50_000 + nth, destination: 27_015 };
      return [datagram(tenant.address, { source, ports, length: 130 }), 5];
    });
    const downloads: [Packet, number][] = [
      [{ ...tcp, ports: { source: 443, destination: 40_000 } }, 2_000],
      ...hosts(4).map((source): [Packet, number] => [quicFrom(source), 500]),
    ];
    await product.seconds(6, ...downloads, ...players);
    expect(await attacksOf(tenant)).toEqual([]);
  });

  it('is told from a flood of the same packets from many', async () => {
    const flood = hosts(400).map((source): [Packet, number] => [quicFrom(source), 3]);
    await product.seconds(4, ...flood);
    expect(await newestAttack(tenant)).toMatchObject({ description: 'UDP flood', kind: 'udp' });
    await product.seconds(32);
  });
});
