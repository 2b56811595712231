import { type Context, statement } from '../../platform/index.ts';
import { type AddressRow, addressColumns } from '../enforce/addressRows.ts';
import type { RoutersRow } from './rows.ts';

/** What is written down of an address: which policy its routers were told of, in how many routes, or why of none. */
export interface Noted {
  address: string;
  generation: number;
  routes: number;
  error: string | null;
}

/** The addresses whose rules are for routers, and what is written down of them, as they were last read. */
export interface WantedRules {
  rows: Map<string, AddressRow>;
  noted: Map<string, Noted>;
}

const source = `from shield_addresses t
  join addresses a on a.address = t.address and a.service_id = t.service_id and a.state = 'taken'`;
const isTheirs =
  'exists (select 1 from shield_prefixes p where p.edge_id = :edgeId and p.network >>= t.address)';
const wantedRules = statement<AddressRow, { edgeId: number; after: string; atMost: number }>(
  'shield.rulesForRouters',
  `select ${addressColumns} ${source} where t.generation > 0 and t.address > :after::inet and ${isTheirs}
   order by t.address limit :atMost`,
);
const changedRules = statement<AddressRow, { edgeId: number; since: number }>(
  'shield.changedRulesForRouters',
  `select ${addressColumns} ${source} where t.generation > 0 and t.generation > :since and ${isTheirs}`,
);
const notedRules = statement<Noted, { edgeId: number }>(
  'shield.announcedRules',
  `select host(address) as address, generation, routes, error from shield_announced_rules where edge_id = :edgeId`,
);

const batch = 500;
/** Before every address. */
const first = '0.0.0.0';
/** Generations are milliseconds. Whoever began to write before another one may end after it. */
const overlapMs = 30_000;
const allEveryMs = 60_000;

/**
 * Reads what is wanted at the routers of an edge. Each time only what has changed since, by its generation; now and then all of it, and
 * at once when `anew` says so or other networks are theirs: what is wanted no more has no generation.
 */
export function rulesReader() {
  let known: WantedRules = { rows: new Map(), noted: new Map() };
  let newest = 0;
  /** When all of it was read last, and for which networks; null: it is to be read. */
  let read: { at: number; networks: string } | null = null;
  return async (ctx: Context, { id: edgeId, prefixes }: RoutersRow, anew: boolean): Promise<WantedRules> => {
    const now = ctx.clock.now().getTime();
    const networks = prefixes.join(' ');
    const isFresh = read?.networks === networks && now >= read.at && now - read.at < allEveryMs;
    if (isFresh && !anew) {
      const changed = await ctx.db.many(changedRules, { edgeId, since: newest - overlapMs });
      for (const row of changed) known.rows.set(row.address, row);
      newest = newestOf(newest, changed);
      return known;
    }
    // Should reading fail, the next one reads all.
    read = null;
    const rows = await readAll(ctx, edgeId);
    const noted = await ctx.db.many(notedRules, { edgeId });
    known = {
      rows: new Map(rows.map((row) => [row.address, row])),
      noted: new Map(noted.map((row) => [row.address, row])),
    };
    newest = newestOf(0, rows);
    read = { at: now, networks };
    return known;
  };
}

function newestOf(before: number, rows: readonly AddressRow[]): number {
  return rows.reduce((newest, { generation }) => Math.max(newest, generation), before);
}

async function readAll(ctx: Context, edgeId: number): Promise<AddressRow[]> {
  const all: AddressRow[] = [];
  for (let after = first; ; ) {
    const some = await ctx.db.many(wantedRules, { edgeId, after, atMost: batch });
    all.push(...some);
    const last = some.at(-1);
    if (some.length < batch || last === undefined) return all;
    after = last.address;
  }
}
