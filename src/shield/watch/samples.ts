import {
  type Edge,
  EdgeError,
  type Head,
  headOf,
  type Network,
  type Sample,
} from '../../drivers/edge/index.ts';
import { type Context, causesOf } from '../../platform/index.ts';

const tryAgainMs = 60_000;

/** A packet that was looked at. */
export interface Looked {
  /** Where it was sent to. */
  address: string;
  head: Head;
  /** For so many it stands. */
  packets: number;
}

export function look({ packet, standsFor }: Sample): Looked {
  return { address: packet.destination, head: headOf(packet), packets: standsFor };
}

/** Whether it comes from one of these networks, which are of its family. */
export function isFrom(networks: readonly Network[], { source }: Head): boolean {
  return networks.some(({ first, last }) => first <= source && source <= last);
}

/** Packets that were looked at since the call before. */
export type SampleReader = (edge: Edge) => Promise<readonly Looked[]>;

/** Where none can be had, as without the kernel's log, there are none, and what is counted is followed all the same. */
export function sampleReader(ctx: Context): SampleReader {
  let failedAt: number | null = null;
  return async (edge) => {
    const now = ctx.clock.now().getTime();
    if (!edge.capabilities.includes('samples')) return [];
    if (failedAt !== null && now - failedAt < tryAgainMs) return [];
    try {
      const samples = await edge.readSamples();
      failedAt = null;
      return samples.map(look);
    } catch (error) {
      if (!(error instanceof EdgeError)) throw error;
      ctx.log.warn({ err: causesOf(error) }, 'packets are counted, and none can be looked at');
      failedAt = now;
      return [];
    }
  };
}
