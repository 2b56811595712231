import type { ListedPeer } from './messages.ts';

/** A router that gobgpd speaks to. */
export interface BgpPeer {
  address: string;
  asn: number;
  /** `shut`: gobgpd speaks to it no more until somebody says so, because it was told to, or was sent too much. */
  state: 'established' | 'connecting' | 'shut';
  /** How often the router broke off, as it does when it is told of more routes than it takes. */
  refusals: number;
  /** Kinds of routes that it takes, and how many of each it has been told of. */
  takes: { kind: 'flow' | 'blackhole'; family: 4 | 6; announced: number }[];
}

const established = 6;
const kinds: Readonly<Record<string, { kind: 'flow' | 'blackhole'; family: 4 | 6 }>> = {
  '1/1': { kind: 'blackhole', family: 4 },
  '2/1': { kind: 'blackhole', family: 6 },
  '1/133': { kind: 'flow', family: 4 },
  '2/133': { kind: 'flow', family: 6 },
};

export function peerOf({ state, afiSafis }: ListedPeer): BgpPeer {
  const { sessionState, adminState, messages } = state;
  return {
    address: state.neighborAddress,
    asn: state.peerAsn,
    state: adminState !== 0 ? 'shut' : sessionState === established ? 'established' : 'connecting',
    refusals: messages?.received?.notification ?? 0,
    takes: afiSafis.flatMap(({ state: of }) => {
      const known = of === null ? undefined : kinds[`${of.family.afi}/${of.family.safi}`];
      return of === null || known === undefined || !of.enabled
        ? []
        : [{ ...known, announced: of.advertised }];
    }),
  };
}
