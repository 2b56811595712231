import { record } from '../../events/index.ts';
import {
  type OrganizationContext,
  refuse,
  requireOwn,
  statement,
  type TxContext,
  transaction,
} from '../../platform/index.ts';
import { lockPolicies, nextGeneration, wantApplied } from '../enforce/wanted.ts';
import { groupMade, groupRenewed } from '../events.ts';
import { groupById, lockGroup, rulesOfGroup } from '../groups/groups.ts';
import { newSmallId } from '../ids.ts';
import { holdOwnAddresses, requirePrefix } from '../owned.ts';
import { type Prefix, readPrefix } from '../prefix.ts';
import { addressesOf, unite } from '../rules/change.ts';
import type { Made } from '../rules/create.ts';
import { checkLimits } from '../rules/limits.ts';
import { readNoteAlone } from '../rules/read.ts';
import { namesOf } from '../rules/require.ts';
import { insertRule, lockRules, removeRules } from '../rules/store.ts';
import { warningsOf } from '../warnings/warnings.ts';
import type { Preset } from './parts.ts';
import { presets } from './presets.ts';

export interface NewGroup {
  id?: number | null | undefined;
  destination: string;
  preset: string;
  note?: string | null | undefined;
  ips?: readonly string[] | null | undefined;
  ports?: readonly number[] | null | undefined;
}

const insert = statement<
  { id: number },
  {
    id: number;
    organizationId: number;
    preset: string;
    destination: string;
    note: string | null;
    ips: string[];
    ports: number[] | null;
    dated: string | null;
    now: Date;
  }
>(
  'shield.insertGroup',
  `insert into shield_groups (id, organization_id, preset, destination, note, ips, ports, list_dated, created_at, updated_at)
   values (:id, :organizationId, :preset, :destination, :note, :ips::cidr[], :ports::int[], :dated, :now, :now)
   on conflict (id) do nothing returning id`,
);
const update = statement<
  never,
  {
    id: number;
    preset: string;
    destination: string;
    note: string | null;
    ips: string[];
    ports: number[] | null;
    dated: string | null;
    now: Date;
  }
>(
  'shield.updateGroup',
  `update shield_groups set preset = :preset, destination = :destination, note = :note, ips = :ips::cidr[], ports = :ports::int[],
     list_dated = :dated, updated_at = :now where id = :id`,
);

/** The presets that there are, as they describe themselves. */
export function listPresets() {
  return {
    presets: presets.map(({ name, title, description, ips, ports, dated, sources, rules }) => {
      const [four, six] = [[...(ports?.(4) ?? [])], [...(ports?.(6) ?? [])]];
      return {
        ...{ name, title, description, ips, dated, sources },
        ports: ports === null ? null : { ipv4: four, ipv6: six },
        rules: { ipv4: rules(4, [], four).length, ipv6: rules(6, [], six).length },
      };
    }),
  };
}

/**
 * Makes the rules of a preset for addresses of the caller's, as a group. With `id` that group is made anew, from the lists
 * as they are now.
 */
export function makeGroup(
  ctx: OrganizationContext,
  body: NewGroup,
): Promise<Made<{ group_id: number; rule_ids: number[] }>> {
  return transaction(ctx, 'shield.makeGroup', async (tx) => {
    const preset = presets.find(({ name }) => name === body.preset);
    if (preset === undefined)
      throw refuse('preset', `must be one of ${presets.map(({ name }) => name).join(', ')}`);
    const destination = requirePrefix(body.destination, 'destination');
    const ips = readIps(body.ips ?? [], destination, preset);
    const ports = readPorts(body.ports ?? [], destination, preset);
    const note = readNoteAlone(body.note ?? null);
    const before = body.id == null ? null : await requireGroup(tx, body.id);
    const owned = await holdOwnAddresses(tx, destination, 'destination');
    const old = before === null ? [] : await tx.db.many(rulesOfGroup, { id: before });
    await lockRules(
      tx,
      old.map(({ id }) => id),
    );
    let touched = owned;
    for (const rule of old) touched = unite(touched, await addressesOf(tx, rule));
    const generation = await nextGeneration(tx, await lockPolicies(tx, touched));
    await removeRules(
      tx,
      old.map(({ id }) => id),
    );
    const values = {
      preset: preset.name,
      destination: destination.text,
      note,
      ips,
      ports,
      dated: preset.dated,
      now: tx.clock.now(),
    };
    const groupId = before ?? (await newGroup(tx, values));
    if (before !== null) await tx.db.run(update, { ...values, id: before });
    const ruleIds: number[] = [];
    for (const rule of preset.rules(destination.family, ips, ports ?? [])) {
      const words = { ...rule, destination: destination.text, note, rate_limiter_id: null, expires_at: null };
      ruleIds.push(await insertRule(tx, tx.organizationId, words, { groupId, generation }));
    }
    await checkLimits(tx, owned);
    await record(tx, before === null ? groupMade : groupRenewed, {
      subject: { type: 'shield_group', id: groupId },
      data: { group_id: groupId, preset: preset.name, destination: destination.text },
    });
    await wantApplied(tx, namesOf(touched));
    return {
      data: { group_id: groupId, rule_ids: ruleIds },
      warnings: await warningsOf(tx, namesOf(owned), ruleIds),
    };
  });
}

async function requireGroup(tx: OrganizationContext & TxContext, id: number): Promise<number> {
  await lockGroup(tx, id);
  return (await requireOwn(tx, groupById, { id })).id;
}

async function newGroup(
  tx: OrganizationContext & TxContext,
  values: {
    preset: string;
    destination: string;
    note: string | null;
    ips: string[];
    ports: number[] | null;
    dated: string | null;
    now: Date;
  },
): Promise<number> {
  for (;;) {
    const row = await tx.db.maybe(insert, {
      ...values,
      id: newSmallId(),
      organizationId: tx.organizationId,
    });
    if (row !== null) return row.id;
  }
}

function readIps(sent: readonly string[], { family }: Prefix, preset: Preset): string[] {
  if (sent.length > 0 && preset.ips === null) throw refuse('ips', `means nothing with ${preset.name}`);
  const read = sent.map((text, nth) => {
    const prefix = readPrefix(text.trim());
    if (typeof prefix === 'string') throw refuse(`ips[${nth}]`, prefix);
    if (prefix.family !== family)
      throw refuse(`ips[${nth}]`, 'must be of the same family as destination: both IPv4, or both IPv6');
    return prefix.text;
  });
  return [...new Set(read)];
}

/** Those that are asked for, or else those that the game has; null where there are none to name. */
function readPorts(sent: readonly number[], { family }: Prefix, preset: Preset): number[] | null {
  if (preset.ports === null && sent.length > 0) throw refuse('ports', `means nothing with ${preset.name}`);
  if (preset.ports === null) return null;
  const read = [...new Set(sent.length > 0 ? sent : preset.ports(family))];
  if (read.length === 0) throw refuse('ports', `has to name the ports of the game with ${preset.name}`);
  return read;
}
