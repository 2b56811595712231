import type { WantedPackage } from '../../src/platform/host/packages.ts';
import { ensureUnpacked } from '../unpacked.ts';

/** What stands for a rack where there is none: BMCs, network boot, a switch, and who says whether ours are true. */
export const rackPackages: readonly WantedPackage[] = [
  { package: 'openipmi', why: 'ipmi_sim, a BMC that speaks IPMI' },
  { package: 'ipmitool', why: 'how the product speaks IPMI' },
  { package: 'freeipmi-tools', why: 'whether BMCs say the same to a client that is not ours' },
  { package: 'ipxe', why: 'what servers start from the network with' },
  { package: 'dnsmasq-base', why: 'addresses and first files for servers that start from the network' },
  { package: 'snmpd', why: 'a switch that is asked for its counters, over a bridge' },
  { package: 'radvd', why: 'an IPv6 router for servers, which would wait for one at each start' },
  { package: 'snmp', why: 'whether it says the same to a client that is not ours' },
  { package: 'python3-sushy', why: 'whether the Redfish stand-in is true: what OpenStack drives BMCs with' },
  { package: 'redfishtool', why: 'the same, by the makers of the standard' },
  { package: 'ovmf', why: 'UEFI for servers' },
  { package: 'socat', why: 'a serial line of a server that no machine stands behind' },
  { package: 'qemu-system-x86', why: 'servers themselves' },
  { package: 'qemu-utils', why: 'their disks' },
  { package: 'seabios', why: 'BIOS for servers' },
  { package: 'ipxe-qemu', why: 'what their network cards start from the network with' },
];

/** A folder with what of them this host lacks; see {@link ensureUnpacked}. The first time takes some seconds and 15 MB. */
export function ensureRackTree(): Promise<string> {
  return ensureUnpacked(
    'rack',
    rackPackages.map((each) => each.package),
  );
}
