import { rackTree, withoutRack } from '../../../../test/rack/here.ts';
import { startSwitch } from '../../../../test/rack/switch.ts';
import { describeSwitch } from '../conformance.ts';
import { openSwitches } from '../open.ts';

describeSwitch(
  'a switch over SNMPv3',
  async () => {
    const it = await startSwitch(rackTree);
    const [port] = it.ports;
    if (port === undefined) throw new Error('no port');
    return {
      ...{ connection: it.connection, open: openSwitches(), port: port.name, mac: port.mac },
      // snmpd reads the kernel's counters every fifteen seconds.
      showsWithinMs: 60_000,
      send: it.send,
      counted: () => it.counted(port.name),
      plug: (isIn) => it.plug(port.name, isIn),
      vlan: async () => null,
      beSilent: async (isSilent) => it.beSilent(isSilent),
      close: it.close,
    };
  },
  withoutRack,
);
