import { openInspector } from './inspector.ts';

interface Frame {
  id: number;
  callFrame: { functionName: string; url: string };
}

/** Share of each part of the process' busy time, the largest first. */
export type Shares = [part: string, share: number][];

/**
 * Where a running process of ours spends its time, by its own sampling profiler, which is opened from outside:
 * nothing in the product knows of it.
 */
export async function profile(pid: number, ms: number): Promise<Shares> {
  const inspector = await openInspector(pid);
  await inspector('Profiler.enable');
  await inspector('Profiler.setSamplingInterval', { interval: 500 });
  await inspector('Profiler.start');
  await new Promise((resolve) => setTimeout(resolve, ms));
  const { profile: taken } = (await inspector('Profiler.stop')) as {
    profile: { nodes: Frame[]; samples: number[] };
  };
  await inspector('close');
  return sharesOf(taken);
}

function sharesOf(taken: { nodes: Frame[]; samples: number[] }): Shares {
  const parts = new Map(taken.nodes.map((node) => [node.id, partOf(node.callFrame)]));
  const counts = new Map<string, number>();
  for (const sample of taken.samples) {
    const part = parts.get(sample) ?? 'other';
    counts.set(part, (counts.get(part) ?? 0) + 1);
  }
  counts.delete('idle');
  const busy = [...counts.values()].reduce((sum, count) => sum + count, 0);
  return [...counts].map(([part, count]) => [part, count / busy] as Shares[0]).sort((a, b) => b[1] - a[1]);
}

const rooms = /\/src\/(platform\/\w+|\w+)/;

function partOf({ functionName, url }: Frame['callFrame']): string {
  if (functionName === '(idle)') return 'idle';
  if (functionName === '(garbage collector)') return 'garbage collection';
  if (functionName === '(program)' || url === '') return 'native code and system calls';
  const library = /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url)?.[1];
  if (library !== undefined) return library.startsWith('pg') ? 'pg' : library;
  if (url.startsWith('node:')) return /http|_http/.test(url) ? 'node:http' : 'node';
  const room = rooms.exec(url)?.[1];
  return room === undefined ? 'other' : `our ${room}`;
}

export function asShares(shares: Shares, most = 8): string {
  return shares
    .slice(0, most)
    .map(([part, share]) => `${part} ${Math.round(share * 100)} %`)
    .join(', ');
}
