import { writeFile } from 'node:fs/promises';
import ipaddr from 'ipaddr.js';
import type { Nic } from '../contract.ts';
import { lendTo, type MachineFiles, type Owner } from './files.ts';

/**
 * Writes what iPXE does when the machine starts from the network: it takes the machine's own address, which no DHCP
 * server has to tell it, and goes on with the program at `url`. Without one, and when that fails, it waits for its
 * user's commands on the screen. `ifopen` comes first, since a closed device forgets what is set.
 * Source: iPXE's command reference and "Scripting".
 */
export async function writeNetbootScript(
  files: MachineFiles,
  nic: Nic,
  nameservers: readonly string[],
  url: string | null,
  owner: Owner | null,
): Promise<void> {
  const [first] = nic.addresses.filter((each) => each.family === 4);
  const dns = nameservers.find((each) => ipaddr.IPv4.isValid(each));
  const script = [
    '#!ipxe',
    ...(first
      ? [
          'ifopen net0',
          `set net0/ip ${first.address}`,
          `set net0/netmask ${ipaddr.IPv4.subnetMaskFromPrefixLength(first.prefix)}`,
          `set net0/gateway ${first.gateway}`,
          ...(dns ? [`set dns ${dns}`] : []),
        ]
      : ['echo This machine has no IPv4 address']),
    ...(url === null ? [] : [`chain ${url} ||`]),
    'echo',
    'echo Start a system with: chain http://server/path',
    'shell',
    '',
  ];
  await writeFile(files.netbootScript, script.join('\n'), { mode: 0o600 });
  await lendTo(owner, files.netbootScript);
}
