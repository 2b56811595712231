import type { Config } from './config.ts';

/** Beside the pool, each for as long as what it is for: see `connectAlone`. */
const ofEveryProcess = {
  'says how many it may be': 1,
  'tells other processes of jobs': 1,
  'stands in for workers, and tells of jobs meanwhile': 2,
};
const ofApi = {
  'hears of the journal, for streams': 1,
  'hears of packets that other processes trace': 1,
  'exports of accounts': 2,
};
const ofWorker = {
  'shows that it lives, and hears of jobs': 1,
  'leads what one process at a time does': 1,
  'hears of the journal, for webhooks': 1,
};

/**
 * Connections to the database that this process opens at most. All lanes of its worker and all its requests share the pool: each has
 * a connection only while it has a transaction open.
 */
export function mostConnections({ role, databasePoolSize, journalDays }: Config): number {
  const beside = [
    ofEveryProcess,
    ...(role === 'worker' ? [] : [ofApi]),
    ...(role === 'api' ? [] : [ofWorker]),
  ].flatMap((each) => Object.values(each));
  const retention = role !== 'api' && journalDays !== null ? 1 : 0;
  return databasePoolSize + retention + beside.reduce((sum, each) => sum + each, 0);
}
