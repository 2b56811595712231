/** What a port had counted at a moment, and since when its switch counts. */
export interface Counted {
  at: Date;
  uptimeMs: number;
  speedMbps: number | null;
  counters: { in: bigint; out: bigint } | null;
}

/** Bytes between two readings. */
export interface Traffic {
  in: bigint;
  out: bigint;
}

const turn = 1n << 64n;
/** Of a port that does not say how fast it is: more than any that is sold. */
const fastestMbps = 1_600_000;
/** Clocks of ours, and counters that are read some moments apart. */
const slackMs = 2_000n;

/**
 * What went through a port between two readings; null: nobody knows, as when it did not count, or what it counted cannot be. Never
 * negative, and never more than the port can carry in that time. A counter that fell while its switch began anew has counted from zero: what
 * it counted since then was carried, and what came before is lost. A shorter time up alone says nothing: an SNMP agent that is started again
 * begins at zero, as every one does after 497 days, and the counters run on.
 */
export function trafficBetween(before: Counted, after: Counted): Traffic | null {
  const elapsedMs = after.at.getTime() - before.at.getTime();
  if (before.counters === null || after.counters === null || elapsedMs <= 0) return null;
  const began = mayHaveBegunAnew(before, after, elapsedMs);
  const speed = Math.max(before.speedMbps ?? fastestMbps, after.speedMbps ?? fastestMbps);
  const most = BigInt(Math.ceil(speed)) * 125n * (BigInt(elapsedMs) + slackMs);
  const [incoming, outgoing] = (['in', 'out'] as const).map((way) => {
    const [from, to] = [before.counters?.[way] ?? 0n, after.counters?.[way] ?? 0n];
    const carried = to >= from ? to - from : began ? to : to - from + turn;
    return carried <= most ? carried : null;
  });
  if (incoming == null || outgoing == null) return null;
  return { in: incoming, out: outgoing };
}

/** It says to be up for a shorter time than before, and than we waited: of a counter that fell this explains it, and otherwise a wrap has to. */
function mayHaveBegunAnew(before: Counted, after: Counted, elapsedMs: number): boolean {
  return after.uptimeMs < before.uptimeMs && after.uptimeMs <= elapsedMs + Number(slackMs);
}
