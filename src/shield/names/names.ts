import { Worker } from 'node:worker_threads';
import { type Context, causesOf } from '../../platform/index.ts';
import { bytesOf, lookUp, type Table } from './table.ts';

/** As the packages have them that are installed. */
export interface Tables {
  asn: Table | null;
  country: Table | null;
}

/** Who has the network that an address is in: `AS13335 Cloudflare, Inc.`, and the code of a country. */
export interface SourceNames {
  asnOf(source: number | bigint): string | null;
  countryOf(source: number | bigint): string | null;
  /** Of memory. */
  bytes: number;
}

let loading: Promise<SourceNames> | null = null;
let loaded: SourceNames | null = null;

/** Null until they are read, which the first call begins: nobody waits for them. Nobody else's host is ever asked. */
export function sourceNames({ log }: Pick<Context, 'log'>): SourceNames | null {
  if (loading === null)
    loadSourceNames().catch((error: unknown) =>
      log.warn({ err: causesOf(error) }, 'the tables of networks could not be read: senders have no names'),
    );
  return loaded;
}

/** The same for who waits. Where the packages are not installed nothing has a name. */
export function loadSourceNames(): Promise<SourceNames> {
  loading ??= read().then((tables) => {
    loaded = namesOf(tables);
    return loaded;
  });
  return loading;
}

export function namesOf({ asn, country }: Tables): SourceNames {
  return {
    asnOf: (source) => asn && lookUp(asn, source),
    countryOf: (source) => country && lookUp(country, source),
    bytes: [asn, country].reduce((sum, table) => sum + (table === null ? 0 : bytesOf(table)), 0),
  };
}

function read(): Promise<Tables> {
  const worker = new Worker(new URL('./namesThread.ts', import.meta.url), {
    execArgv: [],
    resourceLimits: { maxYoungGenerationSizeMb: 4, maxOldGenerationSizeMb: 96 },
  });
  worker.unref(); // a process that has nothing else to do ends
  return new Promise((resolve, reject) => {
    worker.once('message', resolve);
    worker.once('error', reject);
    worker.once('exit', () => reject(new Error('the thread that reads tables of networks has ended')));
  });
}
