import { type Example, exampleIds } from '../platform/http/index.ts';

/** Ids of Shield have 31 bits; those that the examples of this room speak of. */
export const smallExampleIds = {
  rule: 1_873_920_411,
  ruleOfGroup: 1_222_222_227,
  group: 982_451_653,
  limiter: 573_259_391,
  apply: 1_234_567_891,
  tried: 1_111_111_121,
} as const;
const { rule: ruleId, group: groupId, limiter: limiterId, apply: applyId, tried: triedId } = smallExampleIds;
const address = '203.0.113.10/32';
const at = '2026-01-31T12:00:00.000Z';
const later = '2026-01-31T12:00:01.000Z';

const words = {
  destination: address,
  source: '198.51.100.0/24',
  action: 'deny',
  protocol: 6,
  order: 100,
  note: 'No SSH from there',
  destination_port: { match_type: 'eq', match_value: [22] },
} as const;
const rule = {
  id: ruleId,
  ...words,
  disabled: false,
  src_port_type: null,
  dst_port_type: 'eq',
  source_port: null,
  matches: [],
  matched_packets: 1_204,
  counters: { packets: 1_204, bytes: 72_240, dropped_packets: 0, dropped_bytes: 0 },
  group_id: 0,
  rate_limiter_id: 0,
  rate: null,
  expires_at: null,
  enforced: { active: true, generation: 1_769_860_800_000, since: later, error: null },
  created_at: at,
  last_rule_update: at,
  updated_at: at,
};
const group = {
  id: groupId,
  preset: 'block-ssh',
  destination: address,
  note: null,
  ips: ['198.51.100.7/32'],
  ports: null,
  dated: null,
  created_at: at,
  updated_at: at,
};
const ofGroup = { ...rule, id: smallExampleIds.ruleOfGroup, source: null, note: null, group_id: groupId };
const limiter = {
  id: limiterId,
  name: 'Web',
  packets_per_second: 5_000,
  bits_per_second: null,
  per: 'source',
  burst: 1_000,
  action: 'drop',
  created_at: at,
  updated_at: at,
};
const preset = {
  name: 'block-ssh',
  title: 'No SSH from outside',
  description: 'Drops TCP to port 22, but from the addresses in `ips`.',
  ips: 'May reach SSH all the same',
  ports: null,
  dated: null,
  sources: null,
  rules: { ipv4: 1, ipv6: 1 },
};
const limit = (pps: number, mbps: number | null) => ({
  pps: { value: pps, by: 'level' },
  mbps: { value: mbps, by: 'level' },
});
const sensitivity = {
  address,
  level: 'medium',
  mode: 'monitor',
  mitigation: 'auto',
  thresholds: {},
  whitelist: [],
  synproxy: false,
  blackhole: false,
  may_blackhole: false,
  set_by: { level: 'default', mode: 'default', mitigation: 'default' },
  limits: {
    fragments: limit(5_000, 50),
    reflection: limit(2_500, 25),
    syn: limit(5_000, 50),
    ack: limit(80_000, null),
    udp: { pps: { value: 24_000, by: 'usual' }, mbps: { value: 300, by: 'level' } },
    icmp: limit(2_000, 20),
    other: limit(20_000, 300),
    total: { pps: { value: 50_000, by: 'usual' }, mbps: { value: 500, by: 'usual' } },
  },
  usual: { hours: 612, since: '2026-01-03T12:00:00.000Z', pps: 4_800, mbps: 31, enough: true },
};
const minutes = Array.from({ length: 30 }, () => 1_200);
const ip = {
  service_id: exampleIds.service,
  hostname: 'web1.example.com',
  address,
  dns_name: 'web1.example.com',
  family: { value: 4 },
  unmatched: 'permit',
  shield: { enabled: true, under_attack: false },
  rules: 1,
  recent: { packets: minutes, dropped: minutes.map(() => 0) },
};
const apply = {
  id: applyId,
  state: 'trying',
  destinations: [address],
  rule_ids: [triedId],
  confirm_until: '2026-01-31T12:01:00.000Z',
  seconds_left: 60,
  enforced: { active: true, generation: 1_769_860_800_000, since: later, error: null },
  created_at: at,
  ended_at: null,
};
export const attackId = 4503599627370951;
const mitigationId = 4503599627370952;
export const mitigation = {
  id: mitigationId,
  attack_id: String(attackId),
  kind: 'reflection',
  measure: 'drop_reflection',
  by: 'edge',
  description: 'Drops what is reflected from port 53; of 53 what is longer than usual answers',
  ports: [53],
  why: { arrived: { pps: 50_000, mbps: 480 }, past: null, limit: { pps: 2_500, mbps: 25 } },
  started_at: '2026-01-31T12:00:02.000Z',
  in_force: false,
  in_force_since: '2026-01-31T12:00:02.000Z',
  counters: { packets: 14_900_000, bytes: 17_880_000_000 },
  error: null,
  releasing: false,
  released_at: '2026-01-31T12:05:30.000Z',
  because: 'attack_over',
};
export const attack = {
  attack_id: String(attackId),
  service_id: exampleIds.service,
  dest: address,
  status: 'end',
  start_time: '2026-01-31 12:00:00',
  event_time: '2026-01-31 12:05:00',
  duration: 300,
  mbps: 480,
  pps: 50_000,
  volume: 18_000,
  description: 'DNS reflection',
  kind: 'reflection',
  counters: { packets: 15_000_000, bytes: 18_000_000_000 },
  mitigations: [mitigation],
  started_at: at,
  updated_at: '2026-01-31T12:05:00.000Z',
  ended_at: '2026-01-31T12:05:00.000Z',
};
export const attackInfo = {
  dport: [{ name: '27015', type: 'udp', value: 14_600_000 }],
  sport: [{ name: '53', type: 'udp', value: 14_900_000 }],
  plen: [{ name: '1500', type: 'bytes', value: 9_300_000 }],
  sip: [{ name: '8.8.8.8', type: 'ipv4', value: 4_100_000 }],
  'src-asn': [{ name: 'AS15169 Google LLC', type: 'asn', value: 4_200_000 }],
  'src-country': [{ name: 'US', type: 'country', value: 7_700_000 }],
};
const params = { id: ruleId };
const warnings: never[] = [];
const none = { data: {}, beside: { warnings } };

export const examples = {
  getShieldToken: { body: { key: 'inn_…' }, data: { token: 'inn_…' } },
  listShieldIps: { data: { ips: [ip], count: 1, pages: 1 } },
  getShieldIp: {
    params: { ip: '203.0.113.10' },
    data: { ip, rules: [rule], groups: [], trial: null, attack: null },
  },
  updateShieldIp: { body: { address, dns_name: 'shield.example.com' }, data: {} },
  listShieldRules: {
    query: { page: 0, limit: 25 },
    data: { limit: 25, total: 1, page: 0, pages: 1, rules: [rule] },
  },
  createShieldRule: { body: words, data: { rule_id: ruleId }, beside: { warnings } },
  getShieldRule: { params, data: { rule } },
  updateShieldRule: { params, body: { order: 90 }, ...none },
  enableShieldRule: { params, ...none },
  enableShieldRuleByPost: { params, ...none },
  disableShieldRule: { params, ...none },
  disableShieldRuleByPost: { params, ...none },
  deleteShieldRule: { params, data: {} },
  getShieldGroup: { params: { id: groupId }, data: { group, rules: [ofGroup] } },
  deleteShieldGroup: { params: { id: groupId }, data: {} },
  listShieldPresets: { data: { presets: [preset] } },
  createShieldGroup: {
    body: { destination: address, preset: 'block-ssh', ips: ['198.51.100.7'] },
    data: { group_id: groupId, rule_ids: [smallExampleIds.ruleOfGroup] },
    beside: { warnings },
  },
  applyShieldRules: {
    body: { rules: [words], confirm_within_s: 60 },
    data: { apply_id: applyId, confirm_until: apply.confirm_until, rule_ids: [triedId] },
    beside: { warnings },
  },
  simulateShieldRules: {
    body: { rules: [words] },
    data: {
      since: '2026-01-31T11:00:00.000Z',
      until: '2026-01-31T12:00:00.000Z',
      in_force: true,
      certainty: {
        level: 'good',
        samples: 12_400,
        one_in: 16,
        margin: 3_380,
        message:
          '12,400 packets were looked at, about one in 16 of those that came. The numbers are estimates: of the 198,400 in all, the true ' +
          'number is at most 3,380 away, 95 times in 100, and each has its own margin. Who sent few packets may be missing. There are ' +
          'flows of 60 of the last 60 minutes, in which 198,112 packets were counted.',
      },
      total: { packets: 198_400, bytes: 184_512_000, samples: 12_400, margin: 3_380 },
      rules: [
        {
          ...{ rule_id: null, destination: address, action: 'deny', limited: false },
          ...{ packets: 6_400, bytes: 384_000, samples: 400, margin: 608 },
        },
      ],
      unmatched: { packets: 192_000, bytes: 184_128_000, samples: 12_000, margin: 3_326 },
      newly_dropped: {
        ...{ packets: 6_400, bytes: 384_000, samples: 400, margin: 608 },
        tops: {
          dport: [{ name: '22', type: 'tcp', value: 6_400 }],
          sport: [{ name: '51022', type: 'tcp', value: 32 }],
          plen: [{ name: '60', type: 'bytes', value: 6_400 }],
          sip: [{ name: '198.51.100.9', type: 'ipv4', value: 4_800 }],
        },
      },
      newly_permitted: {
        ...{ packets: 0, bytes: 0, samples: 0, margin: 48 },
        tops: { dport: [], sport: [], plen: [], sip: [] },
      },
    },
    beside: { warnings },
  },
  getShieldApply: { params: { id: applyId }, data: { apply } },
  confirmShieldApply: {
    params: { id: applyId },
    body: { new_connection: true },
    data: {
      apply: { ...apply, state: 'confirmed', seconds_left: null, ended_at: '2026-01-31T12:00:30.000Z' },
    },
  },
  cancelShieldApply: {
    params: { id: applyId },
    data: {
      apply: { ...apply, state: 'cancelled', seconds_left: null, ended_at: '2026-01-31T12:00:30.000Z' },
    },
  },
  explainPacket: {
    body: { source: '198.51.100.9', destination: address, protocol: 6, destination_port: 22 },
    data: {
      action: 'deny',
      rule_id: ruleId,
      limited: false,
      in_force: true,
      way: [{ rule_id: ruleId, action: 'deny', matches: true, unmet: [] }],
      live: null,
    },
  },
  listRateLimiters: {
    data: { rate_limiters: [limiter], pages: 1, current_page: 1, entries: 1, total: 1, next_cursor: null },
  },
  createRateLimiter: {
    body: { name: 'Web', packets_per_second: 5_000, per: 'source', burst: 1_000 },
    data: { rate_limiter: limiter },
  },
  getRateLimiter: { params: { id: limiterId }, data: { rate_limiter: limiter } },
  updateRateLimiter: {
    params: { id: limiterId },
    body: { burst: 2_000 },
    data: { rate_limiter: { ...limiter, burst: 2_000 } },
  },
  deleteRateLimiter: { params: { id: limiterId }, data: {} },
  getSensitivity: { params: { ip: '203.0.113.10' }, data: { sensitivity } },
  updateSensitivity: {
    params: { ip: '203.0.113.10' },
    body: { mode: 'enabled' },
    data: {
      sensitivity: { ...sensitivity, mode: 'enabled', set_by: { ...sensitivity.set_by, mode: 'own' } },
    },
  },
  getShieldTraffic: {
    query: { ip: '203.0.113.10', unit: 'mbps', time: 2 },
    data: {
      interval: 1,
      traffic: [
        [1_769_860_800, 12, 0],
        [1_769_860_860, 14, 480],
      ],
    },
  },
  listShieldAttacks: { query: { chunk: 0, limit: 25 }, data: { attacks: [attack] } },
  getShieldAttack: {
    params: { id: attackId },
    data: {
      attack,
      info: attackInfo,
    },
    beside: { notices: [{ text: 'IP Geolocation by DB-IP', url: 'https://db-ip.com' }] },
  },
  releaseShieldMitigation: { params: { id: mitigationId }, data: { mitigation } },
} satisfies Record<string, Example>;
