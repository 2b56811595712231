import { answer, IdParams, Nothing, routes } from '../platform/http/index.ts';
import { changeIp, listIps, lockIp } from './addresses/ips.ts';
import { readIp } from './addresses/read.ts';
import { changeSensitivity, lockSensitivity, readSensitivity } from './addresses/sensitivity.ts';
import { readTrafficOf } from './analytics/traffic.ts';
import { applyRules } from './apply/apply.ts';
import { cancelApply, confirmApply, readApply } from './apply/trial.ts';
import { listAttacks, readAttack } from './attacks/list.ts';
import { examples } from './examples.ts';
import { explainPacket } from './explain/explain.ts';
import { deleteGroup, lockGroup, readGroup } from './groups/groups.ts';
import {
  changeLimiter,
  createLimiter,
  deleteLimiter,
  listLimiters,
  lockLimiter,
  readLimiter,
} from './limiters/limiters.ts';
import { releaseMitigation } from './mitigation/release.ts';
import { listPresets, makeGroup } from './presets/make.ts';
import { changeRule, deleteRule, switchRuleTo } from './rules/change.ts';
import { createRule } from './rules/create.ts';
import { listRules, showRule } from './rules/list.ts';
import { lockRule } from './rules/store.ts';
import * as S from './schema.ts';
import { simulateRules } from './simulate/simulate.ts';
import { tokenForKey } from './token.ts';

const group = {
  tag: 'Shield',
  about:
    'What becomes of packets to your addresses before they reach your machines: rules, which are stateless, and what they count.',
  examples,
};
const prefix = '/shield/v2';
const of = { auth: 'organization', organization: 'default-when-absent' } as const;
const reads = { ...of, permission: 'shield.read' } as const;
const manages = { ...of, permission: 'shield.manage' } as const;

/** What has something beside its data to say. */
function warned<Data>({ data, warnings }: { data: Data; warnings: unknown[] }) {
  return answer(data, {}, { warnings });
}

export const shieldRoutes = routes(prefix, group, (route) => {
  route.post(
    '/auth/api',
    {
      auth: 'public',
      actor: 'visitor',
      operation: 'getShieldToken',
      summary: 'Get token for key',
      description: 'For clients that ask for a token first: what to send in the header `token` from then on.',
      body: S.KeyForToken,
      data: S.Token,
      limit: 'sign-in',
      errors: ['unauthorized'],
    },
    (ctx, req) => tokenForKey(ctx, req.body.key, req.ip),
  );
  route.get(
    '/ips',
    {
      ...reads,
      operation: 'listShieldIps',
      summary: 'List addresses',
      description: 'The addresses that your machines have, as networks.',
      query: S.PageQuery,
      data: S.IpList,
      errors: ['page_too_deep'],
      etag: { without: ['recent', 'rules', 'shield', 'hostname'] },
    },
    (ctx, req) => listIps(ctx, req.query),
  );
  route.get(
    '/ips/:ip',
    {
      ...reads,
      operation: 'getShieldIp',
      summary: 'Get address',
      description:
        'One address with all that is for it: its rules in the order in which they are looked at, what presets made of them, what is ' +
        'tried out, and the attack that goes on.',
      params: S.IpParams,
      data: S.IpData,
    },
    (ctx, req) => readIp(ctx, req.params.ip),
  );
  route.patch(
    '/ips',
    {
      ...manages,
      operation: 'updateShieldIp',
      summary: 'Change address',
      description:
        'Sets or takes away the name that reverse DNS gives for an address, and says what becomes of packets to it that no rule matches.',
      body: S.IpChange,
      data: Nothing,
      errors: ['invalid_domain', 'not_supported', 'action_not_allowed', 'not_found'],
      drivers: ['dns'],
      lock: (tx, req) => lockIp(tx, req.body),
    },
    (ctx, req) => changeIp(ctx, req.body, req.drivers.dns),
  );
  route.get(
    '/rules',
    {
      ...reads,
      operation: 'listShieldRules',
      summary: 'List rules',
      description: 'All rules, in the order in which they are looked at.',
      query: S.PageQuery,
      data: S.RuleList,
      errors: ['page_too_deep'],
    },
    (ctx, req) => listRules(ctx, req.query),
  );
  route.post(
    '/rules',
    {
      ...manages,
      operation: 'createShieldRule',
      summary: 'Create rule',
      description:
        'Makes a rule, in force within about a second: see `enforced`. With `id` it replaces that rule. What no rule matches is ' +
        'permitted, unless the address says otherwise. At most 200 active rules an address, which name at most 4,000 ports; ranges count as ' +
        'one.',
      body: S.NewRule,
      data: S.RuleMade,
      beside: S.warned,
      errors: ['not_found', 'too_many'],
    },
    async (ctx, req) => warned(await createRule(ctx, req.body)),
  );
  route.get(
    '/rules/:id',
    {
      ...reads,
      operation: 'getShieldRule',
      summary: 'Get rule',
      description: 'One rule, what the edge does about it, and what it has counted.',
      params: S.SmallIdParams,
      data: S.RuleData,
      errors: ['not_found'],
      etag: { without: ['matched_packets', 'counters', 'enforced'] },
    },
    (ctx, req) => showRule(ctx, req.params.id),
  );
  route.patch(
    '/rules/:id',
    {
      ...manages,
      operation: 'updateShieldRule',
      summary: 'Change rule',
      description: 'Changes parts of a rule; null takes away what a rule need not have.',
      params: S.SmallIdParams,
      body: S.RuleChange,
      data: Nothing,
      beside: S.warned,
      errors: ['not_found', 'too_many'],
      lock: (tx, req) => lockRule(tx, req.params.id),
    },
    async (ctx, req) => warned({ data: {}, warnings: await changeRule(ctx, req.params.id, req.body) }),
  );
  route.delete(
    '/rules/:id',
    {
      ...manages,
      operation: 'deleteShieldRule',
      summary: 'Delete rule',
      description: 'Takes a rule away.',
      params: S.SmallIdParams,
      data: Nothing,
      errors: ['not_found'],
      lock: (tx, req) => lockRule(tx, req.params.id),
    },
    (ctx, req) => deleteRule(ctx, req.params.id),
  );
  for (const [word, state] of [
    ['enable', 'enabled'],
    ['disable', 'disabled'],
  ] as const) {
    const name = word === 'enable' ? 'Enable' : 'Disable';
    const options = {
      ...manages,
      summary: `${name} rule`,
      description:
        word === 'enable'
          ? 'Switches a rule on. PATCH and POST do the same.'
          : 'Switches a rule off, which keeps its counters. PATCH and POST do the same.',
      params: S.SmallIdParams,
      data: Nothing,
      beside: S.warned,
      errors: ['not_found', 'too_many'],
    } as const;
    route.patch(
      `/rules/:id/${word}`,
      {
        ...options,
        operation: `${word}ShieldRule`,
        shownAt: `${prefix}/rules/:id`,
        lock: (tx, req) => lockRule(tx, req.params.id),
      },
      async (ctx, req) => warned({ data: {}, warnings: await switchRuleTo(ctx, req.params.id, state) }),
    );
    route.post(`/rules/:id/${word}`, { ...options, operation: `${word}ShieldRuleByPost` }, async (ctx, req) =>
      warned({ data: {}, warnings: await switchRuleTo(ctx, req.params.id, state) }),
    );
  }
  route.get(
    '/rules/group/:id',
    {
      ...reads,
      operation: 'getShieldGroup',
      summary: 'Get group',
      description: 'The rules that a preset made.',
      params: S.SmallIdParams,
      data: S.GroupData,
      errors: ['not_found'],
      etag: { without: ['matched_packets', 'counters', 'enforced'] },
    },
    (ctx, req) => readGroup(ctx, req.params.id),
  );
  route.delete(
    '/rules/groups/:id',
    {
      ...manages,
      operation: 'deleteShieldGroup',
      summary: 'Delete group',
      description: 'Takes away all rules that a preset made.',
      params: S.SmallIdParams,
      data: Nothing,
      errors: ['not_found'],
      shownAt: `${prefix}/rules/group/:id`,
      lock: (tx, req) => lockGroup(tx, req.params.id),
    },
    (ctx, req) => deleteGroup(ctx, req.params.id),
  );
  route.get(
    '/rules/presets',
    {
      ...reads,
      operation: 'listShieldPresets',
      summary: 'List presets',
      description: 'Rules that are made together, what each is for, and of which day its lists are.',
      data: S.PresetList,
    },
    () => listPresets(),
  );
  route.post(
    '/rules/presets',
    {
      ...manages,
      operation: 'createShieldGroup',
      summary: 'Use preset',
      description:
        'Makes the rules of a preset for addresses of yours, as a group. With `id` that group is made anew, from the lists as ' +
        'they are now.',
      body: S.NewGroup,
      data: S.GroupMade,
      beside: S.warned,
      errors: ['not_found', 'too_many'],
    },
    async (ctx, req) => warned(await makeGroup(ctx, req.body)),
  );
  route.post(
    '/rules/apply',
    {
      ...manages,
      operation: 'applyShieldRules',
      summary: 'Replace all rules',
      description:
        'Replaces all rules of some addresses as one. With `confirm_within_s` they are tried out: nothing else changes until they ' +
        'are confirmed, and what was in force comes back by itself, also when nothing of ours lives. Confirm over a new ' +
        'connection: whoever is shut out cannot.',
      body: S.NewApply,
      data: S.ApplyMade,
      beside: S.warned,
      errors: ['not_found', 'too_many', 'would_lock_out'],
    },
    async (ctx, req) => warned(await applyRules(ctx, req.body)),
  );
  route.get(
    '/rules/apply/:id',
    {
      ...reads,
      operation: 'getShieldApply',
      summary: 'Get replacement',
      description: 'How rules stand that were put in force as one.',
      params: S.SmallIdParams,
      data: S.ApplyData,
      errors: ['not_found'],
    },
    (ctx, req) => readApply(ctx, req.params.id),
  );
  route.post(
    '/rules/apply/:id/confirm',
    {
      ...manages,
      operation: 'confirmShieldApply',
      summary: 'Confirm',
      description:
        'Keeps rules that are tried out. With `new_connection` it takes that over none but a connection that was opened since they are ' +
        'in force.',
      params: S.SmallIdParams,
      body: S.Confirmation,
      data: S.ApplyData,
      errors: ['not_found', 'trial_over', 'conflict', 'connection_too_old'],
    },
    (ctx, req) => confirmApply(ctx, req.params.id, req.body.new_connection ? req.connectedAt : null),
  );
  route.post(
    '/rules/apply/:id/cancel',
    {
      ...manages,
      operation: 'cancelShieldApply',
      summary: 'Take back',
      description: 'Takes rules back at once that are tried out.',
      params: S.SmallIdParams,
      data: S.ApplyData,
      errors: ['not_found', 'trial_over'],
    },
    (ctx, req) => cancelApply(ctx, req.params.id),
  );
  route.post(
    '/rules/simulate',
    {
      ...reads,
      operation: 'simulateShieldRules',
      summary: 'Simulate rules',
      description:
        'What rules would have done to the packets of the last hour, and what of that is otherwise than with the rules that are wanted ' +
        'now. Takes what `/rules/apply` takes, refuses what that refuses, and changes nothing. Packets are sampled: `certainty` and ' +
        'each `margin` say how sure the numbers are.',
      body: S.NewApply,
      data: S.Simulated,
      beside: S.warned,
      limit: 'shieldSimulate',
      idempotency: 'off',
      whileBlocked: true,
      errors: ['not_found', 'too_many', 'would_lock_out'],
    },
    async (ctx, req) => warned(await simulateRules(ctx, req.body)),
  );
  route.post(
    '/rules/explain',
    {
      ...reads,
      operation: 'explainPacket',
      summary: 'Explain packet',
      description:
        'Which rule decides about a packet, and why those before it do not. Changes nothing. With `live: true` the next packets like it ' +
        'are waited for as well, twenty at most and ten seconds at most, and each says what the edge has decided on it.',
      body: S.Explain,
      data: S.Explained,
      idempotency: 'off',
      whileBlocked: true,
      errors: ['not_supported', 'unavailable'],
      drivers: ['edge'],
      liveWhen: ({ body }) => body.live === true,
    },
    (ctx, req) => explainPacket(ctx, req.body, req.drivers.edge, req.principal),
  );
  route.get(
    '/rate-limiters',
    {
      ...reads,
      operation: 'listRateLimiters',
      summary: 'List rate limiters',
      description: 'Rates that rules can hold packets to.',
      query: S.LimiterQuery,
      data: S.LimiterList,
    },
    (ctx, req) => listLimiters(ctx, req.query),
  );
  route.post(
    '/rate-limiters',
    {
      ...manages,
      operation: 'createRateLimiter',
      summary: 'Create rate limiter',
      description: 'Makes a rate for rules to use; at most 100.',
      body: S.NewLimiter,
      data: S.LimiterData,
      errors: ['too_many', 'conflict'],
    },
    (ctx, req) => createLimiter(ctx, req.body),
  );
  route.get(
    '/rate-limiters/:id',
    {
      ...reads,
      operation: 'getRateLimiter',
      summary: 'Get rate limiter',
      description: 'One rate.',
      params: S.SmallIdParams,
      data: S.LimiterData,
      errors: ['not_found'],
      etag: true,
    },
    (ctx, req) => readLimiter(ctx, req.params.id),
  );
  route.patch(
    '/rate-limiters/:id',
    {
      ...manages,
      operation: 'updateRateLimiter',
      summary: 'Change rate limiter',
      description: 'Changes a rate, for all rules that use it.',
      params: S.SmallIdParams,
      body: S.LimiterChange,
      data: S.LimiterData,
      errors: ['not_found', 'conflict'],
      lock: (tx, req) => lockLimiter(tx, req.params.id),
    },
    (ctx, req) => changeLimiter(ctx, req.params.id, req.body),
  );
  route.delete(
    '/rate-limiters/:id',
    {
      ...manages,
      operation: 'deleteRateLimiter',
      summary: 'Delete rate limiter',
      description: 'Takes away a rate that no rule uses.',
      params: S.SmallIdParams,
      data: Nothing,
      errors: ['not_found', 'limiter_in_use'],
      lock: (tx, req) => lockLimiter(tx, req.params.id),
    },
    (ctx, req) => deleteLimiter(ctx, req.params.id),
  );
  route.get(
    '/sensitivity/:ip',
    {
      ...reads,
      operation: 'getSensitivity',
      summary: 'Get sensitivity',
      description:
        'From where on traffic to an address counts as an attack, what is done about it, and whose word that is.',
      params: S.IpParams,
      data: S.SensitivityData,
      // What usually comes is learned anew each day.
      etag: { without: ['usual', 'limits'] },
    },
    (ctx, req) => readSensitivity(ctx, req.params.ip),
  );
  route.patch(
    '/sensitivity/:ip',
    {
      ...manages,
      operation: 'updateSensitivity',
      summary: 'Change sensitivity',
      description: 'Sets what is named; what is null goes by the product again, or is as for all others.',
      params: S.IpParams,
      body: S.SensitivityChange,
      data: S.SensitivityData,
      lock: (tx, req) => lockSensitivity(tx, req.params.ip),
    },
    (ctx, req) => changeSensitivity(ctx, req.params.ip, req.body),
  );
  route.get(
    '/attacks',
    {
      ...reads,
      operation: 'listShieldAttacks',
      summary: 'List attacks',
      description:
        'Attacks on your addresses, the newest first. The first chunk has besides all that go on or ended within ten minutes, so that ' +
        'whoever asks once a minute misses none.',
      query: S.AttackQuery,
      data: S.AttackList,
      errors: ['page_too_deep'],
    },
    (ctx, req) => listAttacks(ctx, req.query),
  );
  route.get(
    '/attacks/:id',
    {
      ...reads,
      operation: 'getShieldAttack',
      summary: 'Get attack',
      description:
        'One attack, and what was most frequent in it: ports, lengths and senders of the packets of its kind, and the networks (AS) and ' +
        'countries that those are registered in, of which senders may be false. It is estimated from samples, and empty where the edge ' +
        'of the machine takes none, or where no tables of networks are installed. `notices` says whose data the names are.',
      params: IdParams,
      data: S.AttackData,
      beside: S.noticed,
      errors: ['not_found'],
    },
    async (ctx, req) => {
      const { data, notices } = await readAttack(ctx, req.params.id);
      return answer(data, {}, { notices });
    },
  );
  route.post(
    '/mitigations/:id/release',
    {
      ...manages,
      operation: 'releaseShieldMitigation',
      summary: 'Release mitigation',
      description:
        'Takes away what is done against an attack; within seconds, and for as long as that attack goes on. What is released already stays so.',
      params: IdParams,
      data: S.MitigationData,
      errors: ['not_found'],
    },
    (ctx, req) => releaseMitigation(ctx, req.params.id),
  );
  route.get(
    '/analytics/traffic',
    {
      ...reads,
      operation: 'getShieldTraffic',
      summary: 'Get traffic',
      description:
        'What came to an address, and what of it rules dropped: by the minute for the last hours, in wider rows for a longer time. A ' +
        'minute is there once it is over.',
      query: S.TrafficQuery,
      data: S.TrafficData,
    },
    (ctx, req) => readTrafficOf(ctx, req.query),
  );
});
