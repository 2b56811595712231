import { type Context, statement } from '../../platform/index.ts';
import { readSpeed } from './speed.ts';

/** An option of a product, as far as it can choose a profile. */
export interface Asked {
  key: string;
  kind: 'integer' | 'choice';
  min?: number | null;
  max?: number | null;
  step?: number | null;
  choices?: readonly { value: string }[] | null;
}

/** What a profile says, to the gigabyte; null: nothing. */
export interface Said {
  memoryGb: number | null;
  storageGb: number | null;
  portMbps: number | null;
  /** Whether the speed chooses: a profile of the product says one. */
  choosesPort: boolean;
}

interface ProductAsked {
  name: string;
  module_id: number;
  status: string;
  options: Asked[];
}

const productAsked = statement<ProductAsked, { id: number }>(
  'fleet.productOfProfile',
  `select p.name, p.module_id, p.status,
     (select coalesce(jsonb_agg(jsonb_build_object('key', o.key, 'kind', o.kind, 'min', o.min, 'max', o.max, 'step', o.step, 'choices', o.choices) order by o.key), '[]')
      from product_options o where o.product_id = p.id and not o.retired) as options
   from products p where p.id = :id`,
);

/** What is asked of whoever orders a product; null: there is none. */
export function findAsked(ctx: Context, id: number): Promise<ProductAsked | null> {
  return ctx.db.maybe(productAsked, { id });
}

const chosenBy = [
  ['option1', 'memoryGb', 'GB of memory'],
  ['option2', 'storageGb', 'GB of disks together'],
] as const;

/** Why nobody could order the servers of a profile by what the product asks for; empty: they can be. */
export function unorderable(options: readonly Asked[], said: Said): string[] {
  return [...withoutAmount(options, said), ...withoutSpeed(options, said)];
}

function withoutSpeed(options: readonly Asked[], { portMbps, choosesPort }: Said): string[] {
  const asked = options.find(({ key }) => key === 'option7');
  if (asked?.kind !== 'choice') return [];
  if (portMbps === null)
    return choosesPort
      ? ['the product asks for option7, and the profile does not say how fast its port is']
      : [];
  const values = (asked.choices ?? []).map(({ value }) => value);
  if (values.some((value) => readSpeed(value) === portMbps)) return [];
  return [`nobody can order a port of ${portMbps} Mbit/s by option7, which has ${values.join(', ')}`];
}

function withoutAmount(options: readonly Asked[], said: Said): string[] {
  return chosenBy.flatMap(([key, name, what]) => {
    const asked = options.find((option) => option.key === key);
    if (asked === undefined || asked.kind !== 'integer') return [];
    const value = said[name];
    if (value === null) return [`the product asks for ${key}, and the profile does not say how many ${what}`];
    const { min, max, step } = { min: asked.min ?? 0, max: asked.max ?? value, step: asked.step ?? 1 };
    if (value >= min && value <= max && (value - min) % step === 0) return [];
    return [`nobody can order ${value} ${what} by ${key}, which goes from ${min} to ${max} by ${step}`];
  });
}
