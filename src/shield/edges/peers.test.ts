import { expect, it } from 'vitest';
import type { BgpPeer } from '../../drivers/edge/index.ts';
import { judgePeers, type PeersSeen } from './peers.ts';

const statesOf = (seconds: [state: BgpPeer['state'], refusals: number][], everyMs = 2_000) => {
  const seen: PeersSeen = new Map();
  return seconds.map(([state, refusals], nth) => {
    const peer = { address: '192.0.2.254', asn: 64_500, state, refusals, takes: [] };
    return judgePeers(seen, [peer], nth * everyMs)[0]?.state;
  });
};

it('a router that broke off is believed once it has stayed for ten seconds, however often it came back before', () => {
  const there: [BgpPeer['state'], number] = ['established', 1];
  expect(statesOf([['established', 0], ['connecting', 1], there, there, there, there, there, there])).toEqual(
    [
      ...[
        'established',
        'connecting',
        'refusing',
        'refusing',
        'refusing',
        'refusing',
        'refusing',
        'established',
      ],
    ],
  );
  // Also one that was back before anybody looked.
  expect(statesOf([['established', 0], there, ['connecting', 2], ['established', 3]])).toEqual([
    ...['established', 'refusing', 'connecting', 'refusing'],
  ]);
});

it('a router that was away without breaking off is believed at once, and so is one of a gobgpd that began anew', () => {
  expect(
    statesOf([
      ['established', 4],
      ['connecting', 4],
      ['established', 4],
      ['established', 0],
    ]),
  ).toEqual([...['established', 'connecting', 'established', 'established']]);
});
