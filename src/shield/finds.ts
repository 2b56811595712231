import type { FindSource } from '../platform/http/index.ts';
import { statement } from '../platform/index.ts';
import { isUnderAttack } from './addresses/protectedNow.ts';
import { isOwned } from './owned.ts';
import { single } from './prefix.ts';

interface AddressFound {
  address: string;
  hostname: string | null;
  dns_name: string | null;
  under_attack: boolean;
}

interface RuleFound {
  id: number;
  note: string;
  destination: string;
  disabled: boolean;
}

type Asked = { organizationId: number; words: string; limit: number };

const addresses = statement<AddressFound, Asked>(
  'shield.findAddresses',
  `select host(a.address) as address, s.domain as hostname, a.dns_name,
     ${isUnderAttack('a.address', 'a.service_id')} as under_attack
   from addresses a join services s on s.id = a.service_id
   where a.organization_id = :organizationId and ${isOwned}
     and (starts_with(host(a.address), lower(:words)) or starts_with(lower(a.dns_name), lower(:words)))
   order by a.address limit :limit`,
);
const rules = statement<RuleFound, Asked>(
  'shield.findRules',
  `select id, note, destination::text as destination, disabled from shield_rules
   where organization_id = :organizationId and position(lower(:words) in lower(note)) > 0
   order by rank, age limit :limit`,
);

/** A customer's addresses by how they or their names in reverse DNS begin. */
export const addressFinds = {
  kind: 'address',
  permission: 'shield.read',
  find: async ({ db, organizationId }, words, limit) => {
    const rows = await db.many(addresses, { organizationId, words, limit });
    return rows.map(({ address, hostname, dns_name, under_attack }) => ({
      ...{ id: address, title: address, detail: dns_name ?? hostname },
      status: under_attack ? 'under_attack' : null,
    }));
  },
} as const satisfies FindSource;

/** A customer's rules by a part of their notes. */
export const ruleFinds = {
  kind: 'shield_rule',
  permission: 'shield.read',
  find: async ({ db, organizationId }, words, limit) => {
    const rows = await db.many(rules, { organizationId, words, limit });
    return rows.map(({ id, note, destination, disabled }) => ({
      ...{ id: String(id), title: note, detail: single(destination).text },
      status: disabled ? 'disabled' : null,
    }));
  },
} as const satisfies FindSource;
