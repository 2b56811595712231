import { Resolver } from 'node:dns/promises';
import { readFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';

export interface Resolved {
  address: string;
  family: number;
}

/** All addresses of a name. Fails with the code of what the name servers said. */
export type Resolve = (host: string) => Promise<Resolved[]>;

interface Options {
  /** Whether the host's own list of names counts: where a provider lets its customers reach its own networks. */
  hostsFile: string | null;
  /** Other name servers than the host's. */
  servers?: readonly string[];
  deadlineMs?: number;
}

const usualDeadlineMs = 4_000;
/** How long the other family of addresses is waited for once one is there (RFC 8305 waits for less). */
const otherMs = 300;
/** After this the host's list of name servers is read anew. */
const resolverMs = 60_000;

/**
 * Asks name servers over sockets of this thread. `getaddrinfo` would take one of the four threads that files and hashes share
 * with it, and a few slow name servers of other people's would hold up the whole process.
 */
export function nameServers({ hostsFile, servers, deadlineMs = usualDeadlineMs }: Options): Resolve {
  let resolver = { is: new Resolver(), since: Number.NEGATIVE_INFINITY };

  const resolverNow = (): Resolver => {
    const now = performance.now();
    if (now - resolver.since > resolverMs) {
      resolver = { is: new Resolver({ timeout: deadlineMs / 4, tries: 2 }), since: now };
      if (servers !== undefined) resolver.is.setServers([...servers]);
    }
    return resolver.is;
  };

  return async (host) => {
    const own =
      hostsFile === null ? [] : addressesIn(await readFile(hostsFile, 'utf8').catch(() => ''), host);
    if (own.length > 0) return own;
    const asked = resolverNow();
    const found: Resolved[] = [];
    const ask = async (family: 4 | 6): Promise<void> => {
      const addresses = await (family === 4 ? asked.resolve4(host) : asked.resolve6(host));
      found.push(...addresses.map((address) => ({ address, family })));
      if (found.length === 0) throw coded('ENODATA');
    };
    const both = [ask(4), ask(6)] as const;
    const ended = new AbortController();
    const late = pause(deadlineMs, undefined, { signal: ended.signal }).then(() => {
      throw coded('ETIMEOUT');
    });
    late.catch(() => undefined);
    try {
      await Promise.race([Promise.any(both), late]).catch((error: unknown) => {
        // What the first family was answered: it is the one that names have.
        throw error instanceof AggregateError ? error.errors[0] : error;
      });
      await Promise.race([
        Promise.allSettled(both),
        pause(otherMs, undefined, { signal: ended.signal }).catch(() => undefined),
      ]);
    } finally {
      ended.abort();
    }
    return found.toSorted((one, other) => one.family - other.family);
  };
}

function coded(code: string): Error {
  return Object.assign(new Error(code), { code });
}

/** What `/etc/hosts` says of a name. */
function addressesIn(text: string, host: string): Resolved[] {
  return text.split('\n').flatMap((line) => {
    const [address = '', ...names] = line.replace(/#.*/, '').trim().split(/\s+/);
    const isIt = names.some((name) => name.toLowerCase() === host.toLowerCase());
    return isIt ? [{ address, family: address.includes(':') ? 6 : 4 }] : [];
  });
}

/** How many names are looked up side by side for one organization: who owns slow name servers waits for them alone. */
const mostOfOrganization = 8;

/** The same, a few at a time for each organization, and once for those who ask for the same name meanwhile. */
export function lookupsOf(resolve: Resolve, atMost = mostOfOrganization) {
  const underWay = new Map<number, Map<string, Promise<Resolved[]>>>();
  const waiting = new Map<number, (() => void)[]>();
  return async (organizationId: number, host: string): Promise<Resolved[]> => {
    const theirs = () => underWay.get(organizationId) ?? new Map<string, Promise<Resolved[]>>();
    while (!theirs().has(host) && theirs().size >= atMost) {
      const { promise, resolve: goOn } = Promise.withResolvers<void>();
      waiting.set(organizationId, [...(waiting.get(organizationId) ?? []), goOn]);
      await promise;
    }
    const known = theirs().get(host);
    if (known !== undefined) return known;
    const lookup = resolve(host).finally(() => {
      const left = theirs();
      left.delete(host);
      if (left.size === 0) underWay.delete(organizationId);
      const others = waiting.get(organizationId) ?? [];
      waiting.delete(organizationId);
      for (const goOn of others) goOn();
    });
    underWay.set(organizationId, theirs().set(host, lookup));
    return lookup;
  };
}
