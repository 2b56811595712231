import { type Context, statement } from '../../platform/index.ts';
import type { Rate } from './defence.ts';
import { isOfRouters } from './measures.ts';
import { type MitigationRow, mitigationColumns } from './record.ts';
import { describeMeasure } from './words.ts';

export interface ShownRow extends MitigationRow {
  asked_at: Date | null;
}

export const shownColumns = `${mitigationColumns}, m.asked_at`;

// What stood already when an attack began meets it as well.
const ofAttacks = statement<ShownRow & { of_attack: number }, { ids: number[] }>(
  'shield.mitigationsOfAttacks',
  `select t.id as of_attack, ${shownColumns} from shield_attacks t join shield_mitigations m on m.attack_id = t.id
   where t.id = any(:ids::bigint[])
   union all
   select t.id, ${shownColumns} from shield_attacks t join shield_mitigations m on m.address = t.address
     and m.organization_id = t.organization_id and m.attack_id <> t.id and m.started_at < t.started_at
     and (m.released_at is null or m.released_at > t.started_at)
   where t.id = any(:ids::bigint[])
   order by started_at, id`,
);

/** By attack, what was done against it, in the order in which it was begun. */
export async function findMitigations(
  ctx: Context,
  attacks: readonly { id: number }[],
): Promise<(attackId: number) => ReturnType<typeof viewMitigation>[]> {
  const ids = attacks.map(({ id }) => id);
  const rows = ids.length === 0 ? [] : await ctx.db.many(ofAttacks, { ids });
  const byAttack = Map.groupBy(rows, ({ of_attack }) => of_attack);
  return (id) => (byAttack.get(id) ?? []).map(viewMitigation);
}

/** What customers read of a mitigation. */
export function viewMitigation(row: ShownRow) {
  const { id, kind, measure, ports, why, started_at, in_force_since, packets, bytes, released_at, because } =
    row;
  const stands = in_force_since !== null && released_at === null;
  return {
    ...{
      id,
      attack_id: String(row.attack_id),
      kind,
      measure,
      by: isOfRouters(measure) ? ('routers' as const) : ('edge' as const),
      description: describeMeasure(row),
      ports,
    },
    why: {
      arrived: whole(why.arrived),
      past: why.past === null ? null : whole(why.past),
      limit: whole(why.limit),
    },
    // A router that went away has forgotten all of it.
    ...{ started_at, in_force: stands && !(isOfRouters(measure) && row.error !== null), in_force_since },
    counters: { packets, bytes },
    error: row.error === null || released_at !== null ? null : adviceOn(row.error),
    releasing: row.asked_at !== null && released_at === null,
    ...{ released_at, because },
  };
}

/** No number of an attack has a fraction. */
function whole<Of extends Rate | { pps: number | null; mbps: number | null }>({ pps, mbps }: Of) {
  const round = (value: number | null) => (value === null ? null : Math.round(value));
  return { pps: round(pps), mbps: round(mbps) };
}

const advice: Readonly<Record<string, string>> = {
  not_supported: 'What stands before this address cannot do that; what was begun before stays so',
  peer_down: 'Not all routers in front can be told at present; it is in force there as soon as they can',
  nothing_filters: 'Nothing filters packets to this address at present; it is tried again',
};
const otherwise = 'It is not in force yet: it is tried again, and our staff has been told';

/** For customers: what the driver said is for staff. */
function adviceOn(error: string): string {
  return advice[error.split(':', 1)[0] ?? ''] ?? otherwise;
}
