import { describe, expect, it } from 'vitest';
import { describeSwitch } from '../conformance.ts';
import { openSwitches } from '../open.ts';
import { simulatedSwitches } from './driver.ts';

const address = '192.0.2.4';
const mac = '52:54:00:12:34:56';
const connection = {
  ...({ kind: 'simulated', address, user: 'innkeeper', authProtocol: 'sha256' } as const),
  ...{ authPassphrase: 'auth-pass-123', privacyPassphrase: 'priv-pass-123' },
};

for (const [name, capabilities] of [
  ['a simulated switch', ['vlans']],
  ['a simulated switch without VLANs', []],
] as const)
  describeSwitch(name, async () => {
    const switches = simulatedSwitches();
    const it = switches.put(address, { capabilities });
    const counters = { in: 0n, out: 0n };
    const port = {
      name: 'eth1',
      label: '',
      isUp: true,
      speedMbps: 10_000,
      counters,
      macs: [mac],
      vlan: null,
    };
    it.ports.push(port, { ...port, name: 'eth2', macs: [] });
    return {
      ...{ connection, open: openSwitches(switches), port: 'eth1', mac, showsWithinMs: 1_000 },
      send: async (bytes) => {
        port.counters = { in: port.counters.in + BigInt(bytes) + 42n, out: port.counters.out + 7n };
      },
      counted: async () => port.counters,
      plug: async (isIn) => {
        port.isUp = isIn;
      },
      vlan: async () => port.vlan,
      beSilent: async (isSilent) => {
        it.failing.isSilent = isSilent;
      },
      close: async () => undefined,
    };
  });

describe('a simulated switch', () => {
  it('that says yes and does nothing is not believed', async () => {
    const switches = simulatedSwitches();
    const port = {
      name: 'eth1',
      label: '',
      isUp: true,
      speedMbps: 1_000,
      counters: null,
      macs: [],
      vlan: 10,
    };
    switches.put(address, { ports: [port], failing: { saysYes: true } });
    const opened = openSwitches(switches)(connection);
    await expect(opened.setVlan('eth1', 20)).rejects.toMatchObject({ code: 'nothing_happened' });
    expect(await opened.readVlan('eth1')).toBe(10);
  });

  it('is not there where none are simulated', () => {
    expect(() => openSwitches()(connection)).toThrow(/no simulated switches here/);
  });
});
