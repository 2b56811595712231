import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { House } from './house.ts';
import { cpuMs, familyOf, spreadOf } from './measure.ts';

/**
 * CPU time in milliseconds: of a server's own process, and of PostgreSQL with all that it started. On a busy machine it
 * stays what it is where throughput swings by half.
 */
export interface Cpu {
  node: number;
  database: number;
}

/** What the product, or another process on its database, and that database have used so far. */
export function cpuOf({ pid, socketDir }: House, server = pid): Cpu {
  const lock = readdirSync(socketDir).find((name) => name.endsWith('.lock'));
  if (lock === undefined) throw new Error(`no database has its socket in ${socketDir}`);
  const postmaster = Number(readFileSync(path.join(socketDir, lock), 'utf8').split('\n')[0]);
  const [, ...backends] = familyOf(postmaster);
  // The postmaster's own count holds what its ended children took.
  const database = backends.reduce((sum, each) => sum + cpuMs(each), cpuMs(postmaster, true));
  return { node: cpuMs(server), database };
}

/** What each of so many requests or orders took since `before`. */
export function costSince(before: Cpu, after: Cpu, count: number): Cpu {
  return {
    node: (after.node - before.node) / count,
    database: (after.database - before.database) / count,
  };
}

/** The medians of some rounds: `81 µs Node, 120 µs PostgreSQL`. */
export function costText(costs: readonly Cpu[]): string {
  const median = (of: keyof Cpu) => inUnit(spreadOf(costs.map((each) => each[of])).median);
  return `${median('node')} Node, ${median('database')} PostgreSQL`;
}

/** The database's part alone, where nothing else of ours ran. */
export function databaseText(costs: readonly Cpu[]): string {
  return `${inUnit(spreadOf(costs.map((each) => each.database)).median)} PostgreSQL`;
}

function inUnit(ms: number): string {
  return ms < 1 ? `${Math.round(ms * 1_000)} µs` : `${ms.toFixed(2)} ms`;
}
