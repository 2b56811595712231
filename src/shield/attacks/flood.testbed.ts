import { until } from '../../../test/product.ts';
import type { Packet } from '../../drivers/edge/index.ts';
import { packet, type ShieldedProduct, type Tenant } from '../testbed.ts';

const udp = 17;

/** A packet of UDP, of 100 bytes to port 9. */
export function datagram(destination: string, change: Partial<Packet> = {}): Packet {
  const ports = { source: 40_000, destination: 9 };
  return packet(destination, { ...{ protocol: udp, ports, flags: null, length: 100 }, ...change });
}

/** Sends the same again and again until somebody says stop: some 20,000 packets a second. */
export function flood(product: ShieldedProduct, ...packets: Packet[]): { stop(): void } {
  const burst = () => {
    for (let nth = 0; nth < 1_000; nth += 1) for (const each of packets) product.edge.pass(each);
  };
  burst();
  const timer = setInterval(burst, 50);
  return { stop: () => clearInterval(timer) };
}

/** An address is watched within seconds of its delivery. */
export function watched(product: ShieldedProduct, address: string) {
  return until(
    () => product.edge.list(),
    (held) => held.some(({ destination }) => destination.startsWith(`${address}/`)),
  );
}

/** Calls it an attack sooner, so that a busy machine sends enough. */
export async function touchy(tenant: Tenant, address = tenant.address, change: Record<string, unknown> = {}) {
  const kinds = ['fragments', 'reflection', 'syn', 'ack', 'udp', 'icmp', 'other'];
  const thresholds = Object.fromEntries(kinds.map((kind) => [kind, { pps: 200, mbps: 1_000 }]));
  const { status, body } = await tenant.patch(`/shield/v2/sensitivity/${address}`, { thresholds, ...change });
  if (status !== 200) throw new Error(JSON.stringify(body));
}

export async function attacksOf(tenant: Tenant, query = '') {
  const { status, body } = await tenant.get(`/shield/v2/attacks${query}`);
  if (status !== 200) throw new Error(JSON.stringify(body));
  return body.data.attacks;
}

/** The newest attack, once it is as `check` says. */
export async function attackThat(tenant: Tenant, check: (attack: Record<string, unknown>) => boolean) {
  const found = await until(
    () => attacksOf(tenant),
    ([newest]) => newest !== undefined && check(newest),
  );
  return found[0];
}
