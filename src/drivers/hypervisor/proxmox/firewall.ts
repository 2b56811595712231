import ipaddr from 'ipaddr.js';
import type { MachineSpec } from '../contract.ts';
import { asList, asRecord, asText } from './answers.ts';
import type { ProxmoxClient } from './client.ts';
import { calling } from './failure.ts';
import { machinePath } from './listed.ts';
import type { Machine } from './machines.ts';

/** The set of addresses that the engine lets a machine's first card send from. */
const set = 'ipfilter-net0';
/** The guest is held to its own addresses and offers none to others; what is let through otherwise is not the engine's to say. */
const wanted = {
  ...{ enable: 1, ipfilter: 1, macfilter: 1, ndp: 1, dhcp: 0, radv: 0 },
  ...{ policy_in: 'ACCEPT', policy_out: 'ACCEPT' },
};

/** Holds a machine's guest to its addresses. An address is added before others go, so none that stays is ever shut out. */
export async function holdToAddresses(
  client: ProxmoxClient,
  machine: Machine,
  { nic }: MachineSpec,
): Promise<void> {
  const path = `${machinePath(machine)}/firewall`;
  const change: typeof client.change = (...call) => calling('network_failed', client.change(...call));
  const sets = asList(await client.read(`${path}/ipset`), 'sets of addresses');
  if (!sets.some(({ name }) => name === set)) await change('POST', `${path}/ipset`, { name: set });
  const there = asList(await client.read(`${path}/ipset/${set}`), 'a set of addresses').map(({ cidr }) =>
    asText(cidr, 'an address'),
  );
  const own = new Set(nic.addresses.map(({ address }) => plain(address)));
  for (const address of own)
    if (!there.some((each) => plain(each) === address))
      await change('POST', `${path}/ipset/${set}`, { cidr: address });
  for (const each of there)
    if (!own.has(plain(each))) await change('DELETE', `${path}/ipset/${set}/${encodeURIComponent(each)}`);
  const options = asRecord(await client.read(`${path}/options`), 'options of a firewall');
  if (Object.entries(wanted).some(([name, value]) => String(options[name] ?? '') !== String(value)))
    await change('PUT', `${path}/options`, wanted);
}

/** An address in one way to write it; a whole network stays what it is. */
function plain(cidr: string): string {
  const [address = '', bits] = cidr.split('/');
  if (!ipaddr.isValid(address)) return cidr;
  const parsed = ipaddr.parse(address);
  const whole = parsed.kind() === 'ipv4' ? '32' : '128';
  return bits === undefined || bits === whole ? parsed.toString() : cidr;
}
