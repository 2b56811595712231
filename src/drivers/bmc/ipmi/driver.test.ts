import { startBmc } from '../../../../test/rack/bmc.ts';
import { leaveSerialOpen } from '../../../../test/rack/bmcSerial.ts';
import { rackTree, withoutRack } from '../../../../test/rack/here.ts';
import { type BmcUnderTest, describeBmc } from '../conformance.ts';
import { openBmcs } from '../open.ts';

async function underTest(): Promise<BmcUnderTest> {
  const rack = await startBmc(rackTree);
  return {
    open: openBmcs({ ipmi: rack.ipmi, offForMs: 0 }),
    connection: rack.connection,
    server: () => rack.server(),
    rest: async () => void (await rack.press('set', 'power', '0', 'boot', 'none')),
    ignoreButton: (is) => rack.mark('ignores-button', is),
    sayYes: (is) => rack.mark('says-yes', is),
    beSilent: async (is) => rack.beSilent(is),
    print: (text) => rack.say(text),
    typed: () => rack.typed(),
    takeSerial: () => leaveSerialOpen(rack),
    // A reading of its sensor that went too high.
    note: async () =>
      void (await rack.tool('raw', ...'0x0a 0x44 0 0 2 0 0 0 0 0x20 0 4 1 1 1 0x57 0x90 0x70'.split(' '))),
    // It cannot be told not to.
    unsafe: ['suite_0'],
    services: null,
    close: () => rack.close(),
  };
}

describeBmc('IPMI', underTest, withoutRack);
