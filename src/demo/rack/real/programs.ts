import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { kept, pathsOf, programIn, unpackMissing } from '../../../drivers/debian/index.ts';
import type { WantedPackage } from '../../../platform/host/packages.ts';

/** What the rack needs besides what machines do, and whoever has one: unpacked where it is not installed. */
const packages: readonly WantedPackage[] = [
  { package: 'openipmi', why: 'ipmi_sim, a BMC that speaks IPMI' },
  { package: 'ipmitool', why: 'how the product speaks IPMI' },
  { package: 'dnsmasq-base', why: 'addresses for servers that start from the network' },
  { package: 'snmpd', why: 'a switch that is asked for its counters, over a bridge' },
  { package: 'radvd', why: 'an IPv6 router for servers, which would wait for one at each start' },
];
const programs = ['ipmi_sim', 'ipmitool', 'dnsmasq', 'snmpd', 'radvd'] as const;
/** Of their folder. Counted up when the list changes. */
export const treeName = 'programs-2';

export type RackProgram = (typeof programs)[number];

/** Where one is, once they are there. */
export function rackProgram(dir: string, name: RackProgram): string {
  return join(dir, 'bin', name);
}

/** Fetches what this host lacks of them, once. Each is a file that starts it with what it needs around it, also through sudo. */
export async function ensureRackPrograms(dir: string): Promise<void> {
  const made = await kept(dir, treeName, (partial) =>
    unpackMissing(
      packages.map((each) => each.package),
      join(partial, 'tree'),
      join(partial, 'work'),
    ).catch((cause: Error) => {
      const wanted = packages.map((each) => `${each.package} (${each.why})`).join(', ');
      throw new Error(`Debian’s packages could not be fetched: ${wanted}. ${cause.message}`, { cause });
    }),
  );
  const tree = join(made, 'tree');
  const { LD_LIBRARY_PATH } = pathsOf(tree);
  await mkdir(join(dir, 'bin'), { recursive: true });
  for (const name of programs) {
    const file = rackProgram(dir, name);
    // Its own package's libraries; what it starts itself is the host's.
    const lines = [
      '#!/bin/sh',
      `LD_LIBRARY_PATH=${inShell(LD_LIBRARY_PATH)} exec ${inShell(programIn(tree, name))} "$@"`,
    ];
    await writeFile(file, `${lines.join('\n')}\n`);
    await chmod(file, 0o755);
  }
}

/** One word of a shell, whatever is in it. */
export function inShell(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
