import { createHash } from 'node:crypto';
import { resolve } from 'node:path';

/** What a server has of this host's memory, and what is left to all else: the product, its database and some machines. */
export const memoryMib = 768;
const keptFreeMib = 2_048;
/** A place for each among the addresses, and a number in each port. */
const mostPlaces = 20;

/** How many such servers a host with so much memory can have. */
export function mostServers(hostMib: number): number {
  return Math.max(0, Math.min(mostPlaces, Math.floor((hostMib - keptFreeMib) / memoryMib)));
}

/** The rack's own networks: that of its servers, that of those who rent them, and that of BMCs and switch. */
export interface Plan {
  /** The network namespace that it stands in, so that what is in it is known, and ends with it. */
  namespace: string;
  /** This host's ends of the cables into it. */
  cable: string;
  management: string;
  /** What all addresses begin with, with the dot. */
  subnet: string;
}

/** Interfaces have fifteen letters at most, and two installations may be on one host. */
export function planOf(dir: string, third: number): Plan {
  const own = hashOf(dir);
  return {
    namespace: `innkeeper-rack-${own}`,
    cable: `rack-${own}`,
    management: `bmcs-${own}`,
    subnet: `10.78.${third}.`,
  };
}

function hashOf(dir: string): string {
  return createHash('sha256').update(resolve(dir)).digest('hex').slice(0, 8);
}

/** A network that this host is in or has a way to: what its addresses begin with, and by which interface. */
export interface Taken {
  address: string;
  by: string;
}

/**
 * The third number of 10.78.x for the rack in a folder, of those that this host has nothing to do with: not simply the first, as another
 * installation whose rack is down just now would have taken the same.
 */
export function chooseThird(dir: string, taken: readonly Taken[]): number {
  const first = Number.parseInt(hashOf(dir).slice(0, 2), 16);
  for (let nth = 0; nth < 256; nth += 1) {
    const third = (first + nth) % 256;
    if (inTheWay(planOf(dir, third), taken) === null) return third;
  }
  throw new Error('this host has addresses in all networks of 10.78.0.0/16, and none is left for the rack');
}

/** Which other interface of this host leads to the rack's networks; null: none does. */
export function inTheWay({ subnet, cable, management }: Plan, taken: readonly Taken[]): string | null {
  const other = taken.find(
    ({ address, by }) => address.startsWith(subnet) && by !== cable && by !== management,
  );
  return other?.by ?? null;
}

export function placesIn({ subnet }: Plan) {
  return {
    /** Ours, and what servers get while they start. */
    own: `${subnet}1/26`,
    range: { from: `${subnet}10`, to: `${subnet}60` },
    /** Of those who rent them, and its gateway, which is us. */
    customers: `${subnet}64/27`,
    gateway: `${subnet}65/27`,
    /** Ours, the switch's and the BMCs'. */
    managing: `${subnet}129/26`,
    switch: `${subnet}130`,
  };
}

/** Who a server is, by its number from 1 on, and at which ports within the namespace its parts meet. */
export function serverOf(nth: number, { subnet }: Plan) {
  const number = String(nth).padStart(2, '0');
  const hex = nth.toString(16).padStart(2, '0');
  return {
    serial: `DEMO-Q${number}`,
    mac: `52:54:00:de:01:${hex}`,
    uuid: `de300000-0000-4000-8000-0000000000${hex}`,
    disks: [`DEMO-Q${number}-A`, `DEMO-Q${number}-B`],
    bmc: { address: `${subnet}${130 + nth}`, mac: `52:54:00:de:02:${hex}` },
    /** Of the switch. */
    port: `port${nth}`,
    ports: { bus: 7_000 + nth, bmcSerial: 7_100 + nth, serial: 7_200 + nth, monitor: 7_300 + nth },
  };
}

export type RackServer = ReturnType<typeof serverOf>;

export const bridge = 'sw0';
export const model = 'Q1';
/** Of each of its two disks, of which the small system needs a part. */
export const diskMib = 512;
