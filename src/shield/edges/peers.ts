import type { BgpPeer } from '../../drivers/edge/index.ts';

/** A router, as staff sees it. `refusing`: it broke off a moment ago, and may do so again: what it was told by now is not to be relied on. */
export interface Peer extends Omit<BgpPeer, 'state'> {
  state: BgpPeer['state'] | 'refusing';
}

interface Seen {
  refusals: number;
  /** Whether it has broken off and not stayed since. */
  isLeaving: boolean;
  /** Since when it has been there without breaking off; null: it is not there. */
  since: number | null;
}
export type PeersSeen = Map<string, Seen>;

/** A router that was told of too much is back within seconds, hears all of it, and is gone again. */
const calmMs = 10_000;

/** What gobgpd says of its routers, and what is known of these from before; `seen` is changed. */
export function judgePeers(seen: PeersSeen, peers: readonly BgpPeer[], now: number): Peer[] {
  return peers.map((peer) => {
    const { address, refusals, state } = peer;
    const before = seen.get(address);
    const brokeOff = before !== undefined && refusals > before.refusals;
    const since = state !== 'established' ? null : brokeOff ? now : (before?.since ?? now);
    // A clock that went back makes nobody wait.
    const isCalm = since !== null && (now - since >= calmMs || now < since);
    const isLeaving = brokeOff || (before?.isLeaving === true && !isCalm);
    seen.set(address, { refusals, isLeaving, since });
    return isLeaving && state === 'established' ? { ...peer, state: 'refusing' } : peer;
  });
}
