import type { Option, Product } from '../../catalog/index.ts';
import { type Context, dayOf, formatMoney, requireExact } from '../../platform/index.ts';
import { type Affected, affectedBy, readCandidates } from './affected.ts';
import { cyclesOf, firstRenewalOn } from './coming.ts';

const servicesAtOnce = 500;

interface Wanted {
  product: Product;
  options: Option[];
  cycles: Record<string, number>;
  fromOn: string;
}

/**
 * Whom a move of a product's prices would concern, by the rule that does it: of so many services at once, in the order of
 * their ids. `after` is a cursor of an earlier answer. The first answer has the totals of all of them.
 */
export async function previewMove(ctx: Context, product: Product, fromOn: string, after?: string) {
  const wanted: Wanted = { product, options: product.options, cycles: cyclesOf(product), fromOn };
  const found = await readCandidates(ctx, placeAfter(ctx, wanted, after === undefined ? 0 : Number(after)));
  const last = found.length === servicesAtOnce ? found.at(-1) : undefined;
  return {
    from: fromOn,
    currency: product.currency,
    totals: after === undefined ? await totalsOf(ctx, wanted) : null,
    services: concerned(found, wanted).map((each) => view(each, wanted)),
    next_cursor: last === undefined ? null : String(last.id),
  };
}

/** Who has a product, and what they would pay if they were moved today to what it costs. */
export async function havingOf(ctx: Context, product: Product) {
  const fromOn = dayOf(ctx.clock.now());
  const { services, unchanged, cycles } = await totalsOf(ctx, {
    ...{ product, options: product.options, cycles: cyclesOf(product), fromOn },
  });
  return { services: services + unchanged, differing: services, cycles };
}

function placeAfter(ctx: Context, { product }: Wanted, after: number) {
  return { productId: product.id, after, orderedBy: ctx.clock.now(), limit: servicesAtOnce };
}

// Whoever cancelled pays no more; if that is taken back they are told like the others.
function concerned(found: Awaited<ReturnType<typeof readCandidates>>, wanted: Wanted): Affected[] {
  return found.flatMap((service) => (service.cancelled ? [] : (affectedBy(wanted, service) ?? [])));
}

/** Over all services, a batch of them in memory at a time. */
async function totalsOf(ctx: Context, wanted: Wanted) {
  const byCycle = new Map<string, { services: number; beforeMinor: number; afterMinor: number }>();
  let [checked, after] = [0, 0];
  for (let more = true; more; ) {
    const found = await readCandidates(ctx, placeAfter(ctx, wanted, after));
    for (const { service, beforeMinor, afterMinor } of concerned(found, wanted)) {
      const sum = byCycle.get(service.cycle) ?? { services: 0, beforeMinor: 0, afterMinor: 0 };
      byCycle.set(service.cycle, {
        services: sum.services + 1,
        beforeMinor: requireExact(sum.beforeMinor + beforeMinor),
        afterMinor: requireExact(sum.afterMinor + afterMinor),
      });
    }
    checked += found.length;
    after = found.at(-1)?.id ?? after;
    more = found.length === servicesAtOnce;
  }
  const cycles = [...byCycle].map(([cycle, { services, beforeMinor, afterMinor }]) => ({
    cycle,
    services,
    price_before: formatMoney(beforeMinor, wanted.product.currency),
    price_after: formatMoney(afterMinor, wanted.product.currency),
  }));
  const services = cycles.reduce((sum, each) => sum + each.services, 0);
  return { services, unchanged: checked - services, cycles };
}

function view({ service, beforeMinor, afterMinor }: Affected, { product, fromOn }: Wanted) {
  const { id, hostname, status, cycle } = service;
  return {
    service: { id, hostname, status },
    organization: { id: service.organizationId, name: service.organization },
    cycle,
    price_before: formatMoney(beforeMinor, product.currency),
    price_after: formatMoney(afterMinor, product.currency),
    first_on: firstRenewalOn(service, fromOn, service.openUntil),
  };
}
