import type { Usual } from '../watch/limits.ts';
import type { levels, mitigations, modes, Thresholds } from './words.ts';

/** What is so of an address: its owner's word, else what its product was set to, else what is so of all. */
export interface Effective {
  level: (typeof levels)[number];
  mode: (typeof modes)[number];
  mitigation: (typeof mitigations)[number];
  /** The owner's own. */
  thresholds: Thresholds;
  product_thresholds: Thresholds;
  /** Null until enough is known. */
  usual: Usual | null;
  whitelist: string[];
  synproxy: boolean;
  /** Whether packets to it may be sent to nowhere: staff’s word for the organization, else its owner’s. */
  may_blackhole: boolean;
}

export const byDefault = { level: 'medium', mode: 'monitor', mitigation: 'auto' } as const;

/** In SQL, its columns: of `addresses a` and `services s`, with what stands in `effectiveFrom`. */
export const effectiveColumns = `coalesce(t.level, d.level, '${byDefault.level}') as level,
  coalesce(t.mode, d.mode, '${byDefault.mode}') as mode,
  coalesce(t.mitigation, d.mitigation, '${byDefault.mitigation}') as mitigation,
  coalesce(t.thresholds, '{}') as thresholds, coalesce(d.thresholds, '{}') as product_thresholds,
  case when u.hours is null then null
    else json_build_object('hours', u.hours, 'since', u.since, 'pps', u.pps, 'mbps', u.mbps) end as usual,
  coalesce(t.whitelist, '{}')::text[] as whitelist, coalesce(t.synproxy, false) as synproxy,
  case o.blackholes when 'allowed' then true when 'forbidden' then false else coalesce(t.blackhole, false) end as may_blackhole`;

export const effectiveFrom = `left join shield_addresses t on t.address = a.address and t.service_id = a.service_id
  left join shield_organizations o on o.organization_id = a.organization_id
  left join shield_products d on d.product_id = s.product_id
  left join shield_usual u on u.address = a.address and u.service_id = a.service_id`;
