import { type Edge, EdgeError, type Sample } from '../../drivers/edge/index.ts';
import { type Context, causesOf } from '../../platform/index.ts';

const tryAgainMs = 60_000;

/** Samples of packets since the call before. */
export type SampleReader = (edge: Edge) => Promise<readonly Sample[]>;

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
      return samples;
    } catch (error) {
      if (!(error instanceof EdgeError)) throw error;
      ctx.log.warn({ err: causesOf(error) }, 'packets are counted, and none can be looked at');
      failedAt = now;
      return [];
    }
  };
}
