import type { NeedSource } from '../platform/http/index.ts';
import { statement } from '../platform/index.ts';
import type { AttackRow } from './attacks/rows.ts';
import { nameOfAttack } from './watch/words.ts';

type Attack = Pick<AttackRow, 'id' | 'address' | 'kind' | 'of'>;
interface Trial {
  address: string;
  others: number;
}

const goingOn = statement<Attack, { organizationId: number; limit: number }>(
  'shield.attacksGoingOn',
  `select id, host(address) as address, kind, of from shield_attacks
   where organization_id = :organizationId and ended_at is null order by started_at desc, id desc limit :limit`,
);
const triedOut = statement<Trial, { organizationId: number; now: Date; limit: number }>(
  'shield.triedOut',
  `select host(min(address)) as address, count(*)::int - 1 as others from shield_addresses
   where organization_id = :organizationId and trial_until > :now group by trial_id order by min(address) limit :limit`,
);

/** Addresses that are attacked, and rules that are tried out: taken back by themselves unless somebody keeps them. */
export const shieldNeeds = {
  kinds: ['shield.attack', 'shield.trial'],
  permission: 'shield.read',
  find: async ({ db, organizationId, clock }, limit) => {
    const attacks = await db.many(goingOn, { organizationId, limit });
    const trials = await db.many(triedOut, { organizationId, now: clock.now(), limit });
    return [
      ...attacks.map((attack) => ({
        kind: 'shield.attack' as const,
        ...{ id: String(attack.id), title: attack.address, detail: nameOfAttack(attack), on: null },
      })),
      ...trials.map(({ address, others }) => ({
        kind: 'shield.trial' as const,
        ...{ id: address, title: address, detail: others > 0 ? `+${others}` : null, on: null },
      })),
    ];
  },
} as const satisfies NeedSource;
