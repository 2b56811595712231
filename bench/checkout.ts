import { checkout } from '../src/cart/checkout.ts';
import type { Cart } from '../src/cart/find.ts';
import { addProduct, type NewProduct } from '../src/catalog/index.ts';
import { demoProducts } from '../src/demo/products.ts';
import { authenticator } from '../src/organizations/index.ts';
import { type OrganizationContext, transaction } from '../src/platform/index.ts';
import { type Cpu, costSince, costText, cpuOf, databaseText } from './cpu.ts';
import type { House } from './house.ts';
import { interleave, type Pair, ratiosOf, spreadOf } from './measure.ts';
import { type Access, firstId, type Person } from './people.ts';
import { asScript, recording, type Sent, type Variable } from './pgbench.ts';
import { asShares, profile } from './profile.ts';
import { type Figure, perSecond } from './table.ts';
import { type Request, volley } from './wrk.ts';

export interface CheckoutOptions {
  rounds: number;
  seconds: number;
}

/** As many as the product's own pool. */
const connections = 8;
const clients = 32;
const products = 200;
const nodes = 200;
const manyRequests = 20_000;

interface Shop {
  house: House;
  access: Access;
  people: readonly Person[];
}

interface Goods {
  name: string;
  /** First and last product id; they follow each other. */
  first: number;
  last: number;
  cart(productId: number): Cart;
}

/** Checkouts a second over HTTP against the same statements sent by pgbench. */
export async function measureCheckout(shop: Shop, options: CheckoutOptions): Promise<Figure[]> {
  const location = shop.access.ctx.config.location;
  const { hosting, vps } = demoProducts(location);
  // Ids of many digits, which cannot be mistaken for another number inside a recorded value.
  await shop.access.sql(`select setval(pg_get_serial_sequence('products', 'id'), 7000000000)`);
  const plain = await stock(shop.access, { ...hosting, stock: 1_000_000_000 }, products);
  const machines = await stock(shop.access, { ...vps, stock: 1_000_000_000 }, products);
  await openFleet(shop.access, location);
  const plainCart = (id: number): Cart => ({ products: [{ id, cycle: 'monthly', type: 'Hosting' }] });
  const hot = { name: 'one hot product', ...plain, last: plain.first, cart: plainCart };
  return [
    await compare(shop, options, { name: 'many products', ...plain, cart: plainCart }, 0.4),
    await compare(shop, options, { name: 'VPS on 200 nodes', ...machines, cart: vpsCart(location) }, 0.4),
    await compare(shop, options, hot, null),
  ];
}

/** Many products of which there is enough, that no machine is made for. */
export async function plainGoods(access: Access): Promise<Goods> {
  const { hosting } = demoProducts(access.ctx.config.location);
  const plain = await stock(access, { ...hosting, stock: 1_000_000_000 }, products);
  return {
    ...{ name: 'many products', ...plain },
    cart: (id) => ({ products: [{ id, cycle: 'monthly', type: 'Hosting' }] }),
  };
}

function vpsCart(location: string) {
  const options = {
    option1: 1,
    option2: 10,
    option3: 1,
    option4: 1,
    option5: 0,
    option6: 'tiny',
    option7: '1gbit',
  };
  const machine = { ...options, option8: location, domain: 'web1.example.com', password: 'Correct-Horse-1' };
  return (id: number): Cart => ({ products: [{ id, cycle: 'monthly', type: 'Hosting', options: machine }] });
}

async function stock(
  { ctx }: Access,
  product: NewProduct,
  count: number,
): Promise<{ first: number; last: number }> {
  return transaction(ctx, 'bench.stock', async (tx) => {
    const first = await addProduct(tx, product);
    for (let made = 1; made < count - 1; made += 1) await addProduct(tx, product);
    return { first, last: await addProduct(tx, product) };
  });
}

/** A fleet on paper: nobody pays, so no machine is made. */
async function openFleet({ sql }: Access, location: string): Promise<void> {
  await sql(
    `insert into nodes (name, location, cpu_cores, memory_mib, disk_gib, seen_at, created_at)
     select 'paper-' || i, $1, 1000000, 100000000, 10000000, now() + interval '1 day', now()
     from generate_series(1, $2::int) i`,
    [location, nodes],
  );
  await sql(
    `with pool as (insert into address_pools (name, location, family, network, gateway, created_at)
       values ('paper', $1, 4, '10.128.0.0/14', '10.128.0.1', now()) returning id)
     insert into addresses (address, pool_id, state) select '10.128.0.1'::inet + i, id, 'free'
     from pool, generate_series(1, 50000) i`,
    [location],
  );
  await sql('vacuum analyze addresses, nodes');
}

async function compare(
  shop: Shop,
  options: CheckoutOptions,
  goods: Goods,
  atLeast: number | null,
): Promise<Figure> {
  const { house, access, people } = shop;
  const load = volley(requestsFor(people, goods));
  const script = await scriptFor(access, people, goods);
  let p99Ms = 0;
  const cost = { ours: [] as Cpu[], theirs: [] as Cpu[] };
  const ours = async () => {
    const before = cpuOf(house);
    const seen = await load.fire(house.url, options.seconds, clients);
    if (seen.failed > 0) throw new Error(`${seen.failed} of the checkouts were refused`);
    p99Ms = Math.max(p99Ms, seen.p99Ms);
    await drain(access); // mails that the orders asked for
    cost.ours.push(costSince(before, cpuOf(house), seen.perSecond * options.seconds));
    return seen.perSecond;
  };
  const theirs = () =>
    paused(shop, async () => {
      const before = cpuOf(house);
      const rate = await script.run(house, options.seconds, connections);
      cost.theirs.push(costSince(before, cpuOf(house), rate * options.seconds));
      return rate;
    });
  const [shares] = await Promise.all([profile(house.pid, options.seconds * 800), ours()]);
  cost.ours.splice(0); // those were the first, and under the profiler
  const pairs = await interleave(options.rounds, ours, theirs);
  load.remove();
  script.remove();
  return figure(
    goods,
    pairs,
    atLeast,
    `${script.statements} statements; p99 ${Math.round(p99Ms)} ms; CPU time an order, mail included: ${costText(cost.ours)} against ${databaseText(cost.theirs)}`,
    asShares(shares, 6),
  );
}

function figure(
  goods: Goods,
  pairs: Pair[],
  atLeast: number | null,
  besides: string,
  shares: string,
): Figure {
  const rate = (key: keyof Pair) => perSecond(spreadOf(pairs.map((pair) => pair[key])).median);
  return {
    name: `Checkouts, ${goods.name}`,
    against: `the same statements by pgbench, prepared, ${connections} connections`,
    value: ratiosOf(pairs),
    unit: 'ratio',
    target: atLeast === null ? null : { atLeast },
    amounts: `${rate('ours')} against ${rate('theirs')}; ${besides}`,
    limit: `one process, which also writes the mails; its time: ${shares}`,
  };
}

export function requestsFor(people: readonly Person[], goods: Goods): Request[] {
  return Array.from({ length: manyRequests }, (_, index) => {
    const as = people[index % people.length];
    if (!as) throw new Error('nobody to order as');
    const id = goods.first + Math.floor(Math.random() * (goods.last - goods.first + 1));
    return { method: 'POST', path: '/api/cart/checkout/invoice', as, body: goods.cart(id) };
  });
}

/** Orders once, in this process, and makes a script of everything that this asked of the database. */
async function scriptFor(access: Access, people: readonly Person[], goods: Goods) {
  const [buyer] = people;
  if (!buyer) throw new Error('nobody to order as');
  const sent: Sent[] = [];
  const db = recording(access.ctx.db, sent);
  // That a key was used is noted once a minute, not with each order.
  const asking = { ...db, run: access.ctx.db.run };
  const authenticate = authenticator(asking, access.ctx.clock, access.ctx.config);
  const principal = await authenticate(buyer.token, buyer.organizationId, '127.0.0.1');
  if (principal === null) throw new Error('the key of the bench is not known');
  const ctx: OrganizationContext = {
    ...access.ctx,
    db,
    actor: principal.actor,
    organizationId: buyer.organizationId,
    permissions: principal.permissions ?? new Set(),
  };
  const order = await checkout(ctx, goods.cart(goods.first));
  const id = 'random(1, 9007199254740991)';
  const variables: Variable[] = [
    { name: 'service', was: order.service_ids[0] ?? 0, is: id },
    { name: 'invoice', was: order.invoice_id, is: id },
    { name: 'organization', was: buyer.organizationId, is: `${firstId} + random(1, ${people.length})` },
    { name: 'product', was: goods.first, is: `random(${goods.first}, ${goods.last})` },
  ];
  return asScript(access, sent, variables);
}

/** Waits until no job is left: what our orders caused must not slow the other side down. */
export async function drain({ sql }: Access): Promise<void> {
  for (;;) {
    const { rows } = await sql(`select 1 from jobs where state in ('ready', 'running') limit 1`);
    if (rows.length === 0) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Stops the product between two of its transactions: what one of them had locked would keep the others waiting. */
async function pause({ pid }: House, { sql }: Access): Promise<void> {
  for (;;) {
    process.kill(pid, 'SIGSTOP');
    const { rows } = await sql(
      `select 1 from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()
         and xact_start is not null and backend_type = 'client backend'`,
    );
    if (rows.length === 0) return;
    process.kill(pid, 'SIGCONT');
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** With the product stopped in its tracks; jobs that came meanwhile are nobody's. */
async function paused<T>({ house, access }: Shop, work: () => Promise<T>): Promise<T> {
  await pause(house, access);
  try {
    return await work();
  } finally {
    await access.sql(`delete from jobs where state = 'ready'`);
    process.kill(house.pid, 'SIGCONT');
  }
}
