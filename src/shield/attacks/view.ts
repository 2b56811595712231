import { within31Bits } from '../ids.ts';
import type { viewMitigation } from '../mitigation/view.ts';
import { single } from '../prefix.ts';
import { nameOfAttack } from '../watch/words.ts';
import type { AttackRow } from './rows.ts';

/** Lists are asked for once a minute: each status stays so long that nobody misses it. */
const statusMs = 60_000;

/** An attack as public clients read it: integers within 31 bits, moments without zone, nothing absent and nothing null. */
export function viewAttack(row: AttackRow, mitigations: ReturnType<typeof viewMitigation>[], now: Date) {
  const { id, started_at, ended_at, updated_at, peak_pps, peak_mbps, packets, bytes } = row;
  const ends = ended_at ?? now;
  return {
    attack_id: String(id),
    service_id: row.service_id,
    dest: single(row.address).text,
    status: statusOf(row, now),
    start_time: plain(started_at),
    event_time: plain(ended_at ?? updated_at),
    duration: within31Bits(Math.max(0, Math.round((ends.getTime() - started_at.getTime()) / 1_000))),
    mbps: within31Bits(Math.round(peak_mbps)),
    pps: within31Bits(Math.round(peak_pps)),
    volume: within31Bits(Math.round(bytes / 1e6)),
    description: nameOfAttack(row),
    kind: row.kind,
    counters: { packets, bytes },
    mitigations,
    started_at,
    updated_at,
    ended_at: ended_at === null ? '' : ended_at.toISOString(),
  };
}

function statusOf({ created_at, ended_at }: AttackRow, now: Date): 'start' | 'ongoing' | 'end' {
  const age = now.getTime() - created_at.getTime();
  if (age < statusMs) return 'start';
  return ended_at === null || age < 2 * statusMs ? 'ongoing' : 'end';
}

/** `2026-01-31 12:00:00`, in UTC. */
function plain(moment: Date): string {
  return moment.toISOString().slice(0, 19).replace('T', ' ');
}
