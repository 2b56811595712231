import { Type } from 'typebox';
import { event } from '../events/index.ts';
import { Id, Timestamp } from '../platform/http/index.ts';

interface OfRule {
  rule_id: number;
  destination: string;
}

interface RuleChanged extends OfRule {
  fields: string[];
}

interface OfGroup {
  group_id: number;
  preset: string;
  destination: string;
}

interface OfLimiter {
  rate_limiter_id: number;
  name: string;
}

interface OfAddress {
  address: string;
  fields: string[];
}

interface OfProduct {
  name: string;
  fields: string[];
}

interface OfEdge {
  name: string;
}

interface EdgeChanged extends OfEdge {
  fields: string[];
}

interface EdgeFailing extends OfEdge {
  health: string;
}

interface OfPrefix extends OfEdge {
  network: string;
}

interface OfOrganization {
  blackholes: string | null;
  before: string | null;
}

interface OfApply {
  apply_id: number;
  destinations: string[];
  rules: number;
}

interface Tried extends OfApply {
  confirm_until: string;
}

interface GivenBack {
  addresses: string[];
  rules: number;
}

interface AttackTold {
  user_id: null;
  attack_id: string;
  address: string;
  kind: string;
  description: string;
  pps: number;
  mbps: number;
  packets: number;
  bytes: number;
  started_at: string;
}

interface AttackBegan extends AttackTold {
  is_first: boolean;
}

interface AttackOver extends AttackBegan {
  ended_at: string;
}

interface ReleaseAsked {
  mitigation_id: number;
  attack_id: string;
  address: string;
  measure: string;
  description: string;
}

interface MitigationTold {
  mitigation_id: number;
  attack_id: string;
  address: string;
  kind: string;
  measure: string;
  description: string;
}

interface MitigationOver extends MitigationTold {
  packets: number;
  bytes: number;
  because: string;
}

const id = Type.Integer({ examples: [1_873_920_411] });
const network = Type.String({ examples: ['203.0.113.10/32'] });
const fields = Type.Array(Type.String());
const permission = 'shield.read';
const ofRule = { permission, data: { rule_id: id, destination: network } } as const;
const ofGroup = {
  permission,
  data: { group_id: id, preset: Type.String(), destination: network },
} as const;
const ofLimiter = { permission, data: { rate_limiter_id: id, name: Type.String() } } as const;
const ofApply = {
  permission,
  data: { apply_id: id, destinations: Type.Array(network), rules: Type.Integer() },
} as const;

export const ruleCreated = event<OfRule>('shield.rule.created', 'a rule of Shield was made', ofRule);
export const ruleChanged = event<RuleChanged>('shield.rule.changed', 'a rule of Shield was changed', {
  permission,
  data: { ...ofRule.data, fields },
});
export const ruleEnabled = event<OfRule>('shield.rule.enabled', 'a rule of Shield was switched on', ofRule);
export const ruleDisabled = event<OfRule>(
  'shield.rule.disabled',
  'a rule of Shield was switched off',
  ofRule,
);
export const ruleDeleted = event<OfRule>('shield.rule.deleted', 'a rule of Shield was removed', ofRule);
export const ruleExpired = event<OfRule>(
  'shield.rule.expired',
  'the time of a rule of Shield was over, and it was switched off',
  ofRule,
);
export const groupMade = event<OfGroup>(
  'shield.group.made',
  'rules of Shield were made from a preset',
  ofGroup,
);
export const groupRenewed = event<OfGroup>(
  'shield.group.renewed',
  'the rules of a preset of Shield were made anew',
  ofGroup,
);
export const groupDeleted = event<OfGroup>(
  'shield.group.deleted',
  'the rules of a preset of Shield were removed',
  ofGroup,
);
export const limiterCreated = event<OfLimiter>(
  'shield.limiter.created',
  'a rate limiter of Shield was made',
  ofLimiter,
);
export const limiterChanged = event<OfLimiter>(
  'shield.limiter.changed',
  'a rate limiter of Shield was changed',
  ofLimiter,
);
export const limiterDeleted = event<OfLimiter>(
  'shield.limiter.deleted',
  'a rate limiter of Shield was removed',
  ofLimiter,
);
export const addressChanged = event<OfAddress>(
  'shield.address.changed',
  'it was changed what Shield does at an address besides its rules',
  { permission, data: { address: Type.String({ examples: ['203.0.113.10'] }), fields } },
);
export const productChanged = event<OfProduct>(
  'shield.product.changed',
  'it was changed from where on traffic to machines of a product is an attack, or what is done about it',
);
export const edgeChanged = event<EdgeChanged>(
  'shield.edge.changed',
  'staff changed what stands in front of addresses, or what it may do',
);
export const edgeRemoved = event<OfEdge>(
  'shield.edge.removed',
  'staff took an edge out of the list that nobody speaks to any more',
);
export const edgeFailing = event<EdgeFailing>(
  'shield.edge.failing',
  'an edge does not do all that it should: it fails (`error`), its routers cannot be told (`peers`), or it counts only a part (`full`)',
);
export const edgeWell = event<OfEdge>('shield.edge.well', 'an edge does all that it should');
export const prefixAdded = event<OfPrefix>(
  'shield.prefix.added',
  'staff lets routers in front be told of a network',
);
export const prefixRemoved = event<OfPrefix>(
  'shield.prefix.removed',
  'routers in front are not told of a network any more',
);
export const organizationChanged = event<OfOrganization>(
  'shield.organization.changed',
  'staff allowed or forbade that packets to addresses of an organization are sent to nowhere',
);
export const policyApplied = event<OfApply>(
  'shield.policy.applied',
  'all rules of some addresses were replaced as one',
  ofApply,
);
export const trialStarted = event<Tried>(
  'shield.trial.started',
  'rules are tried out, and taken back by themselves unless somebody confirms them',
  { permission, data: { ...ofApply.data, confirm_until: Timestamp } },
);
export const trialConfirmed = event<OfApply>(
  'shield.trial.confirmed',
  'rules that were tried out stay in force',
  ofApply,
);
export const trialCancelled = event<OfApply>(
  'shield.trial.cancelled',
  'rules that were tried out were taken back before their time',
  ofApply,
);
export const shieldGivenBack = event<GivenBack>(
  'shield.addresses.given_back',
  'addresses were given back, and their rules are gone with them',
  {
    permission,
    data: { addresses: Type.Array(Type.String({ examples: ['203.0.113.10'] })), rules: Type.Integer() },
  },
);

const count = Type.Integer({ format: 'int64', minimum: 0 });
const attackTold = {
  attack_id: Type.String({ examples: ['4503599627370801'] }),
  address: Type.String({ examples: ['203.0.113.10/32'] }),
  kind: Type.String({ examples: ['reflection'] }),
  description: Type.String({ examples: ['DNS reflection'] }),
  pps: count,
  mbps: count,
  packets: count,
  bytes: count,
  started_at: Timestamp,
};
export const attackStarted = event<AttackBegan>(
  'shield.attack.started',
  'an attack on an address began: two readings in a row were above a limit',
  { permission: 'shield.read', data: attackTold },
);
export const attackUpdated = event<AttackTold>(
  'shield.attack.updated',
  'an attack is of another kind, or twice as strong as was told before',
  { permission: 'shield.read', data: attackTold },
);
export const attackEnded = event<AttackOver>(
  'shield.attack.ended',
  'an attack on an address is over: nothing was above a limit for thirty seconds',
  { permission: 'shield.read', data: { ...attackTold, ended_at: Timestamp } },
);

const mitigationTold = {
  mitigation_id: Id,
  attack_id: Type.String({ examples: ['4503599627370801'] }),
  address: Type.String({ examples: ['203.0.113.10/32'] }),
  kind: Type.String({ examples: ['reflection'] }),
  measure: Type.String({ examples: ['drop_reflection'] }),
  description: Type.String({ examples: ['Drops what is reflected from port 123'] }),
};
export const mitigationStarted = event<MitigationTold>(
  'shield.mitigation.started',
  'something is done against an attack on an address',
  { permission: 'shield.read', data: mitigationTold },
);
export const mitigationReleaseAsked = event<ReleaseAsked>(
  'shield.mitigation.release_asked',
  'somebody wants released what is done against an attack',
);
export const mitigationReleased = event<MitigationOver>(
  'shield.mitigation.released',
  'what was done against an attack on an address is done no more',
  {
    permission: 'shield.read',
    data: {
      ...mitigationTold,
      packets: count,
      bytes: count,
      because: Type.String({ examples: ['attack_over'] }),
    },
  },
);
