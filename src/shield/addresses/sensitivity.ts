import { record } from '../../events/index.ts';
import {
  fail,
  type OrganizationContext,
  statement,
  type TxContext,
  transaction,
} from '../../platform/index.ts';
import { lockPolicies } from '../enforce/wanted.ts';
import { addressChanged } from '../events.ts';
import { holdOwnAddresses, requireOneAddress, requireOwnAddresses, requirePrefix } from '../owned.ts';
import { single, sizeOf } from '../prefix.ts';

export const levels = ['off', 'low', 'medium', 'high'] as const;
export const modes = ['monitor', 'enabled'] as const;
export const mitigations = ['auto', 'permanent'] as const;
/** Kinds of attacks that have a threshold of their own. */
export const kinds = ['fragments', 'reflection', 'syn', 'ack', 'udp', 'icmp', 'other', 'total'] as const;

/** From where on a kind of traffic is an attack. Null: what the level says. */
export type Thresholds = {
  [Kind in (typeof kinds)[number]]?:
    | { pps?: number | null | undefined; mbps?: number | null | undefined }
    | null
    | undefined;
};

interface Sensitivity {
  level: (typeof levels)[number];
  mode: (typeof modes)[number];
  mitigation: (typeof mitigations)[number];
  thresholds: Thresholds;
  /** Senders whose traffic is no attack. */
  whitelist: string[];
  /** The machine has no SYN cookies: the edge may answer in its place. */
  synproxy: boolean;
}

interface Row extends Sensitivity {
  address: string;
  updated_at: Date | null;
}

const byDefault: Sensitivity = {
  level: 'medium',
  mode: 'monitor',
  mitigation: 'auto',
  thresholds: {},
  whitelist: [],
  synproxy: false,
};

const ofAddress = statement<Row, { address: string }>(
  'shield.sensitivity',
  `select host(address) as address, level, mode, mitigation, thresholds, whitelist::text[] as whitelist, synproxy,
     updated_at from shield_addresses
   where address = :address::inet`,
);
const set = statement<
  never,
  Omit<Sensitivity, 'thresholds'> & { address: string; thresholds: string; now: Date }
>(
  'shield.setSensitivity',
  `update shield_addresses set level = :level, mode = :mode, mitigation = :mitigation, thresholds = :thresholds::jsonb,
     whitelist = :whitelist::cidr[], synproxy = :synproxy, updated_at = :now where address = :address::inet`,
);

export type SensitivityChange = { [Field in keyof Sensitivity]?: Sensitivity[Field] | null | undefined };

/** `invalid_request`, `forbidden`. */
export async function readSensitivity(ctx: OrganizationContext, text: string) {
  const [own] = await requireOwnAddresses(ctx, requireOneAddress(text, 'ip'), 'ip');
  return view(ctx, own?.address ?? '');
}

async function view(ctx: OrganizationContext, address: string) {
  const row = await ctx.db.maybe(ofAddress, { address });
  const { level, mode, mitigation, thresholds, whitelist, synproxy } = row ?? byDefault;
  return {
    sensitivity: { address: single(address).text, level, mode, mitigation, thresholds, whitelist, synproxy },
  };
}

export async function lockSensitivity(tx: OrganizationContext & TxContext, text: string): Promise<void> {
  await lockPolicies(tx, await holdOwnAddresses(tx, requireOneAddress(text, 'ip'), 'ip'));
}

/** Sets the fields that are named; a threshold that is null is the level's again. */
export function changeSensitivity(ctx: OrganizationContext, text: string, change: SensitivityChange) {
  const prefix = requireOneAddress(text, 'ip');
  const whitelist = readWhitelist(change.whitelist, prefix.family);
  return transaction(ctx, 'shield.changeSensitivity', async (tx) => {
    const owned = await holdOwnAddresses(tx, prefix, 'ip');
    const address = owned[0]?.address ?? '';
    await lockPolicies(tx, owned);
    const before = (await tx.db.maybe(ofAddress, { address })) ?? { ...byDefault, address };
    const thresholds = merged(before.thresholds, change.thresholds ?? {});
    await tx.db.run(set, {
      address,
      level: change.level ?? before.level,
      mode: change.mode ?? before.mode,
      mitigation: change.mitigation ?? before.mitigation,
      thresholds: JSON.stringify(thresholds),
      whitelist: whitelist ?? before.whitelist,
      synproxy: change.synproxy ?? before.synproxy,
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

function merged(before: Thresholds, change: Thresholds): Thresholds {
  return Object.fromEntries(
    kinds.flatMap((kind) => {
      const sent = change[kind];
      const kept = sent === undefined ? before[kind] : sent;
      const rates = Object.entries(kept ?? {}).filter(([, rate]) => rate != null);
      return rates.length === 0 ? [] : [[kind, Object.fromEntries(rates)]];
    }),
  );
}
