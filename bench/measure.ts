import { readdirSync, readFileSync } from 'node:fs';

/** The middle one, and the outermost, of some measurements. */
export interface Spread {
  median: number;
  min: number;
  max: number;
}

export function spreadOf(values: readonly number[]): Spread {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (index: number) => sorted[Math.max(0, Math.min(sorted.length - 1, index))] ?? Number.NaN;
  const half = sorted.length / 2;
  return { median: (at(Math.ceil(half) - 1) + at(Math.floor(half))) / 2, min: at(0), max: at(sorted.length) };
}

/** One round a turn: ours and theirs by turns, so that what the machine does besides falls on both. */
export interface Pair {
  ours: number;
  theirs: number;
}

/** Interleaved rounds; every second one begins with theirs, so that neither always comes after the other. */
export async function interleave(
  rounds: number,
  ours: () => Promise<number>,
  theirs: () => Promise<number>,
): Promise<Pair[]> {
  const pairs: Pair[] = [];
  for (let round = 0; round < rounds; round += 1) {
    if (round % 2 === 0) {
      const first = await ours();
      pairs.push({ ours: first, theirs: await theirs() });
    } else {
      const first = await theirs();
      pairs.push({ ours: await ours(), theirs: first });
    }
  }
  return pairs;
}

export function ratiosOf(pairs: readonly Pair[]): Spread {
  return spreadOf(pairs.map(({ ours, theirs }) => ours / theirs));
}

/** CPU time that a process has used so far, its ended children included when `children`; milliseconds. */
export function cpuMs(pid: number, children = false): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number);
    const [utime = 0, stime = 0, cutime = 0, cstime = 0] = fields.slice(11, 15);
    return (utime + stime + (children ? cutime + cstime : 0)) * 10; // a hundredth of a second each
  } catch {
    return 0; // it has ended
  }
}

/** A process and all that it started, as far as they live. */
export function familyOf(pid: number): number[] {
  const children = new Map<number, number[]>();
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const parent = parentOf(Number(name));
    children.set(parent, [...(children.get(parent) ?? []), Number(name)]);
  }
  const family = [pid];
  for (const member of family) family.push(...(children.get(member) ?? []));
  return family;
}

function parentOf(pid: number): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
  } catch {
    return 0;
  }
}

export interface Memory {
  /** Resident set in MiB; counts pages that are shared once for each process. */
  rssMib: number;
  /** Proportional set in MiB: each shared page counts once over all. */
  pssMib: number;
}

export function memoryOf(pid: number): Memory {
  const text = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
  const mib = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(text)?.[1] ?? 0) / 1024;
  return { rssMib: mib('Rss'), pssMib: mib('Pss') };
}

/** Milliseconds of a clock that all processes of this machine share. */
export function nowMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

/** What a process grows by at most, in MiB, while something is done, and what of it comes in the later half. */
export async function growthMib<Result>(
  pid: number,
  work: () => Promise<Result>,
): Promise<{ result: Result; mib: number; lateMib: number }> {
  const before = memoryOf(pid).rssMib;
  const seen: number[] = [];
  const watch = setInterval(() => seen.push(memoryOf(pid).rssMib), 100);
  const result = await work().finally(() => clearInterval(watch));
  const half = Math.ceil(seen.length / 2);
  const most = (of: readonly number[]) => of.reduce((mib, each) => Math.max(mib, each), before);
  return { result, mib: most(seen) - before, lateMib: most(seen) - most(seen.slice(0, half)) };
}
