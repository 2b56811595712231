import { setTimeout as delay } from 'node:timers/promises';
import type { Log } from '../../drivers/hypervisor/index.ts';
import type { OpenRack } from './rack.ts';

/** Who puts them on sale: the demonstration's staff, by the API that all staff has. */
export interface Staff {
  /** Of the API. */
  url: string;
  apiKey: string;
  /** What the servers are sold as. */
  productId: number;
}

interface Arrival {
  id: number;
  serial: string;
  state: string;
  problem: string | null;
  is_there: boolean;
}

interface Server {
  id: number;
  serial: string;
  state: string;
  /** Null before it was enrolled. */
  bmc: { power: 'on' | 'off' | null } | null;
}

// biome-ignore lint/suspicious/noExplicitAny: what the API answers, as its description says
type Answer = any;

const lookMs = 2_000;

/**
 * Does what staff would do with servers that were put into a rack: lets them start from the network, accepts them, and sells them as a product.
 * Others that arrive meanwhile are left to staff. Ends once all of them are known, and may be repeated.
 */
export async function putOnSale(
  rack: Pick<
    OpenRack,
    'servers' | 'location' | 'name' | 'model' | 'profile' | 'pool' | 'switch' | 'switchOn'
  >,
  staff: Staff,
  log: Log,
  signal: AbortSignal,
): Promise<void> {
  const api = apiOf(staff, signal);
  const began = performance.now();
  const { servers } = rack;
  const rackId = await ensureRack(api, rack);
  await ensureSurroundings(api, rack);
  const known = async () => {
    const all: Server[] = (await api('GET', '/staff/servers?limit=100&search=DEMO-')).servers;
    return servers.map(({ serial }) => all.find((each) => each.serial === serial) ?? null);
  };
  const isMissing = (server: Server | null) => server === null || server.state === 'waiting';
  if ((await known()).some(isMissing)) {
    const isOurs = await openWhenServed(api, signal);
    const woken = new Set<number>();
    const missing = (await known()).flatMap((server, at) =>
      isMissing(server) ? (servers[at]?.serial ?? []) : [],
    );
    await rack.switchOn?.(missing);
    for (let all = await known(); all.some(isMissing); all = await known()) {
      await wake(api, all, woken, log);
      await acceptArrivals(api, servers, rackId, log);
      await delay(lookMs, undefined, { signal });
    }
    if (isOurs) await api('POST', '/staff/enrolment/close', {});
  }
  await ensureOffer(api, staff.productId, rack);
  const seconds = Math.round((performance.now() - began) / 1_000);
  log.info({ servers: servers.length, seconds }, 'the servers of the demonstration’s rack are on sale');
}

type Api = (method: string, path: string, body?: object) => Promise<Answer>;

function apiOf({ url, apiKey }: Staff, signal: AbortSignal): Api {
  return async (method, path, body) => {
    const answer = await fetch(`${url}${path}`, {
      method,
      headers: { token: apiKey, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
      signal,
    });
    const said: Answer = await answer.json();
    if (answer.ok) return said.data;
    const details = JSON.stringify(said.details ?? []);
    throw new Error(`${method} ${path} answered ${answer.status}: ${said.message} ${details}`);
  };
}

async function ensureRack(
  api: Api,
  { name, location }: Pick<OpenRack, 'name' | 'location'>,
): Promise<number> {
  const { racks } = await api('GET', '/staff/racks?limit=100');
  const found = racks.find((each: { name: string }) => each.name === name);
  return (found ?? (await api('POST', '/staff/racks', { name, location, units: 42 })).rack).id;
}

/** Addresses for whoever rents a server, and the switch that all are plugged into. */
async function ensureSurroundings(
  api: Api,
  { location, pool, switch: plugged }: Pick<OpenRack, 'location' | 'pool' | 'switch'>,
): Promise<void> {
  const has = (all: { name: string }[], name: string) => all.some((each) => each.name === name);
  if (pool && !has((await api('GET', '/staff/address-pools?limit=100')).address_pools, pool.name))
    await api('POST', '/staff/address-pools', { ...pool, location });
  if (plugged && !has((await api('GET', '/staff/switches?limit=100')).switches, plugged.name))
    await api('POST', '/staff/switches', { ...plugged, location });
}

/** Once the network is served. Gives whether it was closed before, and so is to be closed again. */
async function openWhenServed(api: Api, signal: AbortSignal): Promise<boolean> {
  for (;;) {
    const { is_open: isOpen, networks } = (await api('GET', '/staff/enrolment')).enrolment;
    if (isOpen) return false;
    if (networks.some((network: { is_served: boolean }) => network.is_served)) break;
    await delay(lookMs, undefined, { signal });
  }
  await api('POST', '/staff/enrolment/open', { hours: 24 });
  return true;
}

/** One that was enrolled before and waits again is off, and is switched on by its BMC, once. */
async function wake(api: Api, known: (Server | null)[], woken: Set<number>, log: Log): Promise<void> {
  for (const server of known) {
    if (server?.state !== 'waiting' || server.bmc?.power !== 'off' || woken.has(server.id)) continue;
    woken.add(server.id);
    await api('POST', `/staff/servers/${server.id}/start`, {}).catch((error: Error) =>
      log.warn({ serial: server.serial, problem: error.message }, 'a server could not be switched on'),
    );
  }
}

async function acceptArrivals(
  api: Api,
  servers: OpenRack['servers'],
  rackId: number,
  log: Log,
): Promise<void> {
  const arrivals: Arrival[] = (await api('GET', '/staff/enrolment/arrivals?state=waiting&limit=100'))
    .arrivals;
  for (const { id, serial, problem, is_there: isThere } of arrivals) {
    const at = servers.findIndex((each) => each.serial === serial);
    if (at === -1 || !isThere) continue;
    if (problem !== null)
      log.warn({ serial, problem }, 'a server of the demonstration’s rack is accepted again');
    const known: Server[] = (await api('GET', `/staff/servers?limit=100&search=${serial}`)).servers;
    const server = known.find((each) => each.serial === serial);
    const place = { name: serial.toLowerCase(), rack_id: rackId, unit: at + 1 };
    await api(
      'POST',
      `/staff/enrolment/arrivals/${id}/accept`,
      server ? { server_id: server.id } : place,
    ).catch(
      // It may have started anew in between, and is another one then.
      (error: Error) => log.warn({ serial, problem: error.message }, 'a server could not be accepted'),
    );
  }
}

/** The product asks what a server of this rack has to be asked, and these servers are its stock. */
async function ensureOffer(
  api: Api,
  productId: number,
  { location, model, profile }: Pick<OpenRack, 'location' | 'model' | 'profile'>,
): Promise<void> {
  const { profiles } = await api('GET', '/staff/server-profiles?limit=100');
  if (profiles.some(({ name }: { name: string }) => name === profile)) return;
  const { options, retired_options: retired } = (await api('GET', `/staff/products/${productId}`)).product;
  const has = (key: string) => [...options, ...retired].some((each: { key: string }) => each.key === key);
  const integer = (key: string, name: string, label: string, min: number, max: number, price: string) => {
    return { key, name, label, min, max, step: 1, unit_price: price, retired: false };
  };
  const choice = (key: string, name: string, label: string, values: { value: string; label: string }[]) => {
    return { key, name, label, values, retired: false };
  };
  // Another rack of the demonstration's may be sold as the same.
  const locations: { value: string }[] =
    options.find(({ key }: { key: string }) => key === 'option8')?.values ?? [];
  const known = locations.map(({ value }) => value).filter((each) => each !== location);
  await api('PATCH', `/staff/products/${productId}`, {
    description: 'A whole machine, wiped and installed for you within minutes.',
    options: [
      // What servers of a rack have nobody chooses: they are all alike.
      ...['option1', 'option2'].filter(has).map((key) => ({ key, retired: true })),
      integer('option4', 'ipv4_count', 'IPv4 addresses', 1, 4, '1.00'),
      choice('option6', 'operating_system', 'Operating system', [{ value: 'tiny', label: 'Tiny Linux' }]),
      choice(
        ...(['option8', 'location', 'Location'] as const),
        [...known, location].map((each) => ({ value: each, label: each })),
      ),
    ],
  });
  await api('POST', '/staff/server-profiles', { name: profile, model, product_id: productId });
}
