import { startBmc } from '../../../../test/rack/bmc.ts';
import { leaveSerialOpen } from '../../../../test/rack/bmcSerial.ts';
import { rackTree, withoutRack } from '../../../../test/rack/here.ts';
import { startRedfish } from '../../../../test/rack/redfish.ts';
import { type BmcUnderTest, describeBmc } from '../conformance.ts';
import { openBmcs } from '../open.ts';

async function underTest(): Promise<BmcUnderTest> {
  const rack = await startBmc(rackTree);
  const stand = await startRedfish(rack);
  return {
    open: openBmcs({ ipmi: rack.ipmi, offForMs: 0 }),
    connection: stand.connection,
    server: () => rack.server(),
    async rest() {
      await rack.press('set', 'power', '0', 'boot', 'none');
      Object.assign(stand.state.boot, {
        BootSourceOverrideEnabled: 'Disabled',
        BootSourceOverrideTarget: 'None',
      });
    },
    ignoreButton: (is) => rack.mark('ignores-button', is),
    sayYes: async (is) => {
      stand.saysYes = is;
    },
    beSilent: async (is) => {
      stand.instead = is ? () => true : null;
    },
    print: (text) => rack.say(text),
    typed: () => rack.typed(),
    takeSerial: () => leaveSerialOpen(rack),
    note: async () => {
      const id = String(stand.state.log.length + 1);
      const created = new Date(Date.UTC(2026, 0, 1, 0, 0, Number(id))).toISOString();
      // Some makers begin with the newest.
      stand.state.log.unshift({ id, created, message: 'CPU Temp went above its upper limit' });
    },
    // Over IPMI, which it speaks as well.
    unsafe: ['suite_0'],
    services: ['HTTPS', 'IPMI'],
    async close() {
      stand.close();
      await rack.close();
    },
  };
}

describeBmc('Redfish', underTest, withoutRack);
