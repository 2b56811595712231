import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { bridge } from './plan.ts';

/**
 * What starts an IPv6 router that leads nowhere, and has no network that anybody could have an address of: iPXE asks for one at each start, and waits
 * sixteen seconds where nobody answers. Null on a host without IPv6, where nobody asks.
 */
export async function prepareRouter(folder: string, program: string): Promise<string[] | null> {
  if (!existsSync(`/proc/sys/net/ipv6/conf/${bridge}`)) return null;
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const file = join(folder, 'radvd.conf');
  // To those who ask, and no default route of whoever listens.
  const settings = ['AdvSendAdvert on', 'UnicastOnly on', 'AdvDefaultLifetime 0'];
  await writeFile(file, `interface ${bridge} {\n${settings.map((each) => `  ${each};\n`).join('')}};\n`);
  return [program, '-n', '-m', 'stderr', '-C', file, '-p', join(folder, 'pid')];
}
