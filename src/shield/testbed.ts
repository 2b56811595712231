import { runningVps } from '../../test/orders.ts';
import { newCustomer, type Person } from '../../test/people.ts';
import { startTestProduct, type TestOptions, type TestProduct, until } from '../../test/product.ts';
import { type MemoryEdge, memoryEdge, type Packet } from '../drivers/edge/index.ts';

/** A product whose simulated machines have an edge in memory, to which packets can be told. */
export interface ShieldedProduct extends TestProduct {
  edge: MemoryEdge;
}

export async function startShielded(options: TestOptions = {}): Promise<ShieldedProduct> {
  let now = () => Date.now();
  const edge = memoryEdge({ now: () => now() });
  const product = await startTestProduct({ ...options, drivers: { edge, ...options.drivers } });
  now = () => product.clock.now().getTime();
  return { ...product, edge };
}

/** Somebody with a machine that runs. */
export interface Tenant extends Person {
  serviceId: number;
  /** Without a length. */
  address: string;
  address6: string;
}

export async function newTenant(product: TestProduct, change: Record<string, unknown> = {}): Promise<Tenant> {
  const person = await newCustomer(product, { creditMinor: 500_000 });
  const { serviceId } = await runningVps(product, person, { option5: 1, ...change });
  const { body } = await person.get('/shield/v2/ips');
  const ips = body.data.ips as { address: string; family: { value: number } }[];
  const of = (family: number) =>
    ips.find((ip) => ip.family.value === family)?.address.replace(/\/\d+$/, '') ?? '';
  return { ...person, serviceId, address: of(4), address6: of(6) };
}

export const rulesPath = '/shield/v2/rules';

/** A rule that drops SSH, with changes. */
export function dropSsh(destination: string, change: Record<string, unknown> = {}) {
  return {
    ...{ destination, action: 'deny', protocol: 6, order: 100 },
    destination_port: { match_type: 'eq', match_value: [22] },
    ...change,
  };
}

/** Makes a rule, and waits until the edge has it. Returns its id. */
export async function ruleInForce(person: Person, body: Record<string, unknown>): Promise<number> {
  const { status, body: made } = await person.post(rulesPath, body);
  if (status !== 200) throw new Error(`the rule was answered ${status}: ${JSON.stringify(made)}`);
  const id = Number(made.data.rule_id);
  await enforced(person, id);
  return id;
}

/** Waits until the edge has a rule as it stands. */
export async function enforced(person: Person, id: number, active = true) {
  const answer = await until(
    () => person.get(`${rulesPath}/${id}`),
    ({ body }) => body.data.rule.enforced.active === active && body.data.rule.enforced.error === null,
  );
  return answer.body.data.rule;
}

/** A packet to an address: a SYN to port 22 unless it says otherwise. */
export function packet(destination: string, change: Partial<Packet> = {}): Packet {
  return {
    ...{ source: destination.includes(':') ? '2001:db8:9::9' : '198.51.100.9', destination },
    ...{ protocol: 6, ports: { source: 40_000, destination: 22 }, flags: ['syn'] as const },
    ...{ dscp: 0, ecn: 0, ttl: 60, length: 60, fragment: false },
    ...change,
  };
}
