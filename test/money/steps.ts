import fc from 'fast-check';

/** Picks among what there is, the oldest first. */
const which = fc.nat(400);
const product = fc.constantFrom('small', 'large');
const minor = fc.integer({ min: 1, max: 900 });

/** What somebody does with money: how often among other things, and with what. */
const kinds = {
  order: {
    weight: 7,
    with: {
      pieces: fc.constantFrom(1, 1, 2, 3),
      product,
      coupon: fc.option(fc.constantFrom('once', 'recurring'), { freq: 2 }),
    },
  },
  grant: { weight: 2, with: { minor } },
  transfer: {
    weight: 5,
    with: {
      minor: fc.integer({ min: 1, max: 4_000 }),
      /** Names an invoice, or pays what is due; `credit` keeps all of it. */
      to: fc.oneof(which, fc.constantFrom('due', 'credit')),
      twice: fc.boolean(),
    },
  },
  pay: { weight: 6, with: { which, twice: fc.boolean() } },
  /** With a saved method; `race`: and with credit at the same moment. */
  card: { weight: 6, with: { which, usesCredit: fc.boolean(), race: fc.boolean() } },
  topUp: { weight: 1, with: { minor } },
  refund: {
    weight: 3,
    with: {
      which,
      minor: fc.option(fc.integer({ min: 1, max: 700 })),
      method: fc.constantFrom('credit', 'original'),
    },
  },
  takeBack: { weight: 1, with: { which } },
  dispute: { weight: 1, with: { which } },
  decide: { weight: 1, with: { which, outcome: fc.constantFrom('won', 'lost') } },
  /** The payment provider says that a dispute was won after all. */
  correct: { weight: 1, with: { which } },
  cancel: { weight: 1, with: { which } },
  deliver: { weight: 8, with: { which } },
  renew: { weight: 3, with: { which } },
  upgrade: { weight: 3, with: { which } },
  /** To the other product, for periods of years that begin anew with it. */
  changeCycle: { weight: 2, with: { which } },
  end: { weight: 1, with: { which } },
  endLater: { weight: 1, with: { which } },
  revoke: { weight: 1, with: { which } },
  terminate: { weight: 1, with: { which } },
  price: { weight: 1, with: { product, minor: fc.integer({ min: 100, max: 1_200 }) } },
} as const;

export type Kind = keyof typeof kinds;
type With<K extends Kind> = (typeof kinds)[K]['with'];

/** One thing that is done. */
export type Step<K extends Kind = Kind> = {
  [Name in K]: { kind: Name } & {
    [Field in keyof With<Name>]: With<Name>[Field] extends fc.Arbitrary<infer Value> ? Value : never;
  };
}[K];

const step = fc.oneof(
  ...Object.entries(kinds).map(([kind, { weight, with: fields }]) => ({
    weight,
    arbitrary: fc.record({
      kind: fc.constant(kind),
      ...(fields as object),
    }) as fc.Arbitrary<unknown> as fc.Arbitrary<Step>,
  })),
);

/** So many steps, the same ones for the same seed. */
export function stepsOf(seed: number, count: number): Step[] {
  return fc.sample(step, { numRuns: count, seed });
}
