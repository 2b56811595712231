import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/react-query';
import { client } from '../client.ts';

/** So many addresses or attacks are read at once. */
const limit = 50;

/** What an edge does and counts changes all the time; those who look on are told, and read what begins with this. */
const now = ['shield', 'now'] as const;

/** Shield's own lists count their pages from zero and have no cursors. */
export const shieldIps = (filter: string | undefined) =>
  infiniteQueryOptions({
    queryKey: [...now, 'ips', filter],
    initialPageParam: 0,
    queryFn: ({ pageParam: page, signal }) =>
      client.get('/shield/v2/ips', { query: { page, limit, filter }, signal }),
    getNextPageParam: ({ pages }, _, page) => (page + 1 < pages ? page + 1 : undefined),
  });

/** One address with all that is for it. */
export const shieldIp = (ip: string) =>
  queryOptions({
    queryKey: [...now, 'ip', ip],
    queryFn: ({ signal }) => client.get('/shield/v2/ips/{ip}', { path: { ip }, signal }),
  });

export const shieldRule = (id: number) =>
  queryOptions({
    queryKey: [...now, 'rule', id],
    queryFn: async ({ signal }) => (await client.get('/shield/v2/rules/{id}', { path: { id }, signal })).rule,
  });

/** How rules stand that were tried out. */
export const shieldApply = (id: number) =>
  queryOptions({
    queryKey: [...now, 'apply', id],
    queryFn: async ({ signal }) =>
      (await client.get('/shield/v2/rules/apply/{id}', { path: { id }, signal })).apply,
  });

export const shieldPresets = queryOptions({
  queryKey: ['shield', 'presets'],
  queryFn: async ({ signal }) => (await client.get('/shield/v2/rules/presets', { signal })).presets,
  // They come with the product.
  staleTime: Number.POSITIVE_INFINITY,
});

/** All of them: there are a hundred at most. */
export const rateLimiters = queryOptions({
  queryKey: ['shield', 'limiters'],
  queryFn: async ({ signal }) =>
    (await client.get('/shield/v2/rate-limiters', { query: { limit: 100 }, signal })).rate_limiters,
});

export const shieldAttacks = (ip?: string) =>
  infiniteQueryOptions({
    queryKey: [...now, 'attacks', ip],
    initialPageParam: 0,
    queryFn: ({ pageParam: chunk, signal }) =>
      client.get('/shield/v2/attacks', { query: { chunk, limit, ip }, signal }),
    getNextPageParam: ({ attacks }, _, chunk) => (attacks.length < limit ? undefined : chunk + 1),
  });

export const shieldAttack = (id: string) =>
  queryOptions({
    queryKey: [...now, 'attack', id],
    // Ids of attacks are texts in answers and numbers in paths, both of the same digits.
    queryFn: ({ signal }) => client.get('/shield/v2/attacks/{id}', { path: { id: Number(id) }, signal }),
  });

export const trafficTimes = { hour: 60, day: 1_440, week: 10_080, month: 44_640, year: 527_040 } as const;
export type TrafficTime = keyof typeof trafficTimes;
export const trafficUnits = ['bps', 'pps'] as const;
export type TrafficUnit = (typeof trafficUnits)[number];

export interface TrafficAsked {
  unit: TrafficUnit;
  /** Minutes until `until`, or now. */
  time: number;
  until?: string;
}

export const shieldTraffic = (ip: string, asked: TrafficAsked) =>
  queryOptions({
    queryKey: ['shield', 'traffic', ip, asked],
    queryFn: ({ signal }) => client.get('/shield/v2/analytics/traffic', { query: { ip, ...asked }, signal }),
    placeholderData: keepPreviousData,
    // A minute is there once it is over.
    staleTime: 20_000,
  });
