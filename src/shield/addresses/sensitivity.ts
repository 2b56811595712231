import { record } from '../../events/index.ts';
import {
  fail,
  type OrganizationContext,
  requireRow,
  statement,
  type TxContext,
  transaction,
} from '../../platform/index.ts';
import { lockPolicies } from '../enforce/wanted.ts';
import { addressChanged } from '../events.ts';
import { holdOwnAddresses, requireOneAddress, requireOwnAddresses, requirePrefix } from '../owned.ts';
import { single, sizeOf } from '../prefix.ts';
import { type Explained, explainLimits, hoursToLearn, type Terms } from '../watch/limits.ts';
import { type Effective, effectiveColumns, effectiveFrom } from './effective.ts';
import { kinds, type levels, type mitigations, type modes, type Thresholds } from './words.ts';

/** What an owner has said of an address; null: nothing, so its product counts, or what is so of all. */
interface Sensitivity {
  level: (typeof levels)[number] | null;
  mode: (typeof modes)[number] | null;
  mitigation: (typeof mitigations)[number] | null;
  thresholds: Thresholds;
  /** Senders whose traffic is no attack. */
  whitelist: string[];
  /** The machine has no SYN cookies: the edge may answer in its place. */
  synproxy: boolean;
  /** Routers in front may drop all packets to it when nothing else helps. */
  blackhole: boolean;
}

const untouched: Sensitivity = {
  level: null,
  mode: null,
  mitigation: null,
  thresholds: {},
  whitelist: [],
  synproxy: false,
  blackhole: false,
};

const ofAddress = statement<Sensitivity, { address: string }>(
  'shield.sensitivity',
  `select level, mode, mitigation, thresholds, whitelist::text[] as whitelist, synproxy, blackhole from shield_addresses
   where address = :address::inet`,
);
type Shown = Effective & { blackhole: boolean } & Record<
    'own' | 'product',
    Pick<Sensitivity, 'level' | 'mode' | 'mitigation'>
  >;
const effective = statement<Shown, { address: string }>(
  'shield.effectiveSensitivity',
  `select ${effectiveColumns}, coalesce(t.blackhole, false) as blackhole,
     json_build_object('level', t.level, 'mode', t.mode, 'mitigation', t.mitigation) as own,
     json_build_object('level', d.level, 'mode', d.mode, 'mitigation', d.mitigation) as product
   from addresses a join services s on s.id = a.service_id ${effectiveFrom} where a.address = :address::inet`,
);
const set = statement<
  never,
  Omit<Sensitivity, 'thresholds'> & { address: string; thresholds: string; now: Date }
>(
  'shield.setSensitivity',
  `update shield_addresses set level = :level, mode = :mode, mitigation = :mitigation, thresholds = :thresholds::jsonb,
     whitelist = :whitelist::cidr[], synproxy = :synproxy, blackhole = :blackhole, updated_at = :now where address = :address::inet`,
);

export type SensitivityChange = { [Field in keyof Sensitivity]?: Sensitivity[Field] | null | undefined };

/** `invalid_request`, `forbidden`. */
export async function readSensitivity(ctx: OrganizationContext, text: string) {
  const [own] = await requireOwnAddresses(ctx, requireOneAddress(text, 'ip'), 'ip');
  return view(ctx, own?.address ?? '');
}

async function view(ctx: OrganizationContext, address: string) {
  const row = await requireRow(ctx, effective, { address });
  const { level, mode, mitigation, thresholds, whitelist, synproxy, usual, blackhole, may_blackhole } = row;
  const by = (field: 'level' | 'mode' | 'mitigation') =>
    row.own[field] !== null
      ? ('own' as const)
      : row.product[field] !== null
        ? ('product' as const)
        : ('default' as const);
  return {
    sensitivity: {
      ...{ address: single(address).text, level, mode, mitigation, thresholds, whitelist, synproxy },
      ...{ blackhole, may_blackhole },
      set_by: { level: by('level'), mode: by('mode'), mitigation: by('mitigation') },
      limits: viewLimits(row),
      usual:
        usual === null
          ? null
          : {
              ...usual,
              ...{
                since: new Date(usual.since).toISOString(),
                pps: Math.round(usual.pps),
                mbps: Math.round(usual.mbps),
              },
              enough: usual.hours >= hoursToLearn,
            },
    },
  };
}

/** Whole numbers: what is a part of one counts as one. */
function viewLimits(terms: Terms) {
  const limits = explainLimits(terms);
  if (limits === null) return null;
  const whole = ({ value, by }: Explained['pps']) => ({
    value: value === null ? null : Math.ceil(value),
    by,
  });
  return Object.fromEntries(
    kinds.map((kind) => [kind, { pps: whole(limits[kind].pps), mbps: whole(limits[kind].mbps) }]),
  ) as Record<(typeof kinds)[number], Explained>;
}

export async function lockSensitivity(tx: OrganizationContext & TxContext, text: string): Promise<void> {
  await lockPolicies(tx, await holdOwnAddresses(tx, requireOneAddress(text, 'ip'), 'ip'));
}

/** Sets the fields that are named; one that is null is the product's again, or what is so of all. */
export function changeSensitivity(ctx: OrganizationContext, text: string, change: SensitivityChange) {
  const prefix = requireOneAddress(text, 'ip');
  const whitelist = readWhitelist(change.whitelist, prefix.family);
  return transaction(ctx, 'shield.changeSensitivity', async (tx) => {
    const owned = await holdOwnAddresses(tx, prefix, 'ip');
    const address = owned[0]?.address ?? '';
    await lockPolicies(tx, owned);
    const before = (await tx.db.maybe(ofAddress, { address })) ?? untouched;
    const { level = before.level, mode = before.mode, mitigation = before.mitigation } = change;
    const thresholds =
      change.thresholds === null ? {} : mergedThresholds(before.thresholds, change.thresholds ?? {});
    await tx.db.run(set, {
      ...{ address, level, mode, mitigation },
      thresholds: JSON.stringify(thresholds),
      whitelist: whitelist ?? before.whitelist,
      synproxy: change.synproxy === undefined ? before.synproxy : (change.synproxy ?? false),
      blackhole: change.blackhole === undefined ? before.blackhole : (change.blackhole ?? false),
      now: tx.clock.now(),
    });
    const fields = Object.keys(change);
    if (fields.length > 0)
      await record(tx, addressChanged, {
        subject: { type: 'service', id: owned[0]?.service_id ?? 0 },
        data: { address, fields },
      });
    return view(tx, address);
  });
}

/** Undefined: it stays as it is. `invalid_request`. */
function readWhitelist(sent: SensitivityChange['whitelist'], family: 4 | 6): string[] | undefined {
  if (sent === undefined) return undefined;
  const read = (sent ?? []).map((text, nth) => {
    const field = `whitelist.${nth}`;
    const prefix = requirePrefix(text, field);
    const wrong = (message: string) => fail('invalid_request', { details: [{ field, message }] });
    if (prefix.family !== family) throw wrong('is of another family than the address');
    if (sizeOf(prefix) > (family === 4 ? 2n ** 24n : 2n ** 112n))
      throw wrong('is wider than a /8, of IPv6 than a /16');
    return prefix.text;
  });
  return [...new Set(read)];
}

/** With what is named; a kind or a rate that is null is as if nobody had said anything. */
export function mergedThresholds(before: Thresholds, change: Thresholds): Thresholds {
  return Object.fromEntries(
    kinds.flatMap((kind) => {
      const sent = change[kind];
      const kept = sent === undefined ? before[kind] : sent;
      const rates = Object.entries(kept ?? {}).filter(([, rate]) => rate != null);
      return rates.length === 0 ? [] : [[kind, Object.fromEntries(rates)]];
    }),
  );
}
