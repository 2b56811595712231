import {
  type BgpPeer,
  type BgpRouters,
  EdgeError,
  holds,
  type MemoryEdge,
  memoryEdge,
  parsePrefix,
} from '../../drivers/edge/index.ts';

/** Routers that no gobgpd speaks to: what they are told is judged in memory. */
export interface RoutersInMemory extends BgpRouters {
  /** What the routers have; `pass` says whether they let a packet through. */
  table: MemoryEdge;
  peers: BgpPeer[];
  /** Nobody answers any more, or does again. */
  isAway: boolean;
  /** Of rules and attacks nothing is taken: why. */
  refusal: string | null;
  /** How often somebody asked how it stands with them, and what they hold. */
  asked: { peers: number; held: number };
  /** All is forgotten, as when gobgpd is started anew. */
  forget(): void;
}

const peer = (address: string): BgpPeer => ({
  ...{ address, asn: 64_500, state: 'established', refusals: 0 },
  takes: (['flow', 'blackhole'] as const).flatMap((kind) =>
    ([4, 6] as const).map((family) => ({ kind, family, announced: 0 })),
  ),
});

export function routersInMemory(): RoutersInMemory {
  const routers: RoutersInMemory = {
    ...{ table: memoryEdge(), peers: [peer('192.0.2.254')], isAway: false, refusal: null },
    asked: { peers: 0, held: 0 },
    forget() {
      routers.table = memoryEdge();
    },
    within(bounds) {
      const here = () => {
        if (routers.isAway)
          throw new EdgeError('edge_refused', 'gobgpd at unix:/run/gobgpd.sock: no connection');
        return routers.table;
      };
      const isWithin = (destination: string) =>
        bounds.prefixes.some((each) => holds(parsePrefix(each), parsePrefix(destination)));
      const check = (destination: string) => {
        if (!isWithin(destination))
          throw new EdgeError('not_supported', `${destination} is not among what may be announced`, {
            permanent: true,
          });
      };
      const takes = () => {
        if (routers.refusal !== null) throw new EdgeError('edge_refused', routers.refusal);
      };
      const held = async () => {
        routers.asked.held += 1;
        return (await here().list()).filter(({ destination }) => isWithin(destination));
      };
      const edge = routers.table;
      return {
        ...edge,
        ...{ kind: 'bgp', capabilities: [] },
        replace: async (policies) => {
          takes();
          for (const { destination } of policies) check(destination);
          await here().replace(policies);
        },
        mitigate: async (mitigation) => {
          takes();
          check(mitigation.destination);
          await here().mitigate(mitigation);
        },
        remove: async (versions) => here().remove(versions),
        release: async (versions) => here().release(versions),
        list: held,
        read: async () => {
          const all = await held();
          return { held: all, routes: all.length };
        },
        peers: async () => {
          routers.asked.peers += 1;
          here();
          return routers.peers;
        },
        keepWithin: async () => {
          for (const each of await here().list())
            if (!isWithin(each.destination))
              await (each.as === 'policy' ? here().remove([each]) : here().release([each]));
        },
        trace: async () => {
          throw new EdgeError('not_supported', 'routers do not show packets');
        },
      };
    },
    close: async () => undefined,
  };
  return routers;
}
