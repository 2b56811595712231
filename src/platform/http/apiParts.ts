import type { Config } from '../../config.ts';
import type { Clock } from '../clock.ts';
import type { Database } from '../database/index.ts';
import type { Drivers } from '../drivers.ts';
import type { ProcessLog } from '../log.ts';
import type { Reactions } from '../reactions.ts';
import type { Seal } from '../seal.ts';
import type { Limiter } from './limiter.ts';
import type { Principals } from './principal.ts';
import type { Turns, Writers } from './turns.ts';

/** What serving a route needs from the API as a whole. */
export interface Api {
  config: Config;
  db: Database;
  clock: Clock;
  log: ProcessLog;
  seal: Seal;
  reactions: Reactions;
  drivers: Partial<Drivers>;
  principals: Principals;
  limiter: Limiter;
  writers: Writers;
  readers: Turns;
  publicOrigin: string;
  /** Ends one stream that has no end of its own; shutdown calls them all. */
  streams: Set<() => void>;
}
