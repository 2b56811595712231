/** What filters before machines goes from one host to another: what is seen meanwhile, and what goes wrong in the middle. */
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Cable, openCable } from '../../../test/cable.ts';
import { until } from '../../../test/product.ts';
import { sql } from '../../../test/sql.ts';
import { EdgeError } from '../../drivers/edge/index.ts';
import { reconcileEdge } from '../enforce/reconcile.ts';
import {
  dropSsh,
  newTenant,
  packet,
  ruleInForce,
  rulesPath,
  type ShieldedProduct,
  startShielded,
  type Tenant,
} from '../testbed.ts';
import { heldBy, machineNodes, type RouterProcess, startRouter } from './router.testbed.ts';

let product: ShieldedProduct;
let cable: Cable;
let router: RouterProcess;
let other: RouterProcess;
let tenant: Tenant;
let node: number;
let rule: number;
beforeAll(async () => {
  product = await startShielded();
  const [first] = await machineNodes(product);
  node = first as number;
  tenant = await newTenant(product);
  cable = await openCable();
  const env = { DATABASE_URL: cable.through(product.databaseUrl) };
  router = await startRouter(product, 'router-1', { env });
  other = await startRouter(product, 'router-2');
  rule = await ruleInForce(tenant, dropSsh(tenant.address));
}, 180_000);
afterAll(async () => {
  await cable?.mend().catch(() => undefined);
  await other?.stop();
  await router?.stop();
  await product?.stop();
  await cable?.close();
});

/** Whether somebody on its way lets go of the packet that nobody lets through. */
const isDenied = (...edges: RouterProcess['edge'][]) =>
  edges.some((edge) => !edge.pass(packet(tenant.address)));
const all = () => [router.edge, other.edge, product.edge];

/** What its owner is shown, as often as it can be asked; and that no packet comes through meanwhile. */
async function watchedBy<T>(
  work: () => Promise<T>,
): Promise<{ given: T; seen: Set<string>; through: number }> {
  const seen = new Set<string>();
  let through = 0;
  let isOver = false;
  const sending = setInterval(() => {
    if (!isDenied(...all())) through += 1;
  }, 1);
  const looking = (async () => {
    while (!isOver) {
      const { vps } = (await tenant.get(`/dashboard/service/${tenant.serviceId}/vps/overview`)).body.data;
      const { enforced } = (await tenant.get(`${rulesPath}/${rule}`)).body.data.rule;
      const { shield } = vps.ips.find((each: { address: string }) => each.address === tenant.address);
      seen.add(
        `${JSON.stringify(shield)} active ${enforced.active}${enforced.error === null ? '' : ' with an error'}`,
      );
      await pause(5);
    }
  })();
  try {
    const given = await work();
    return { given, seen, through };
  } finally {
    isOver = true;
    clearInterval(sending);
    await looking;
  }
}

const filtering = '{"enabled":true,"under_attack":false} active true';

async function settledAt(has: RouterProcess['edge']): Promise<void> {
  for (const edge of all()) await heldBy(edge, tenant.address, edge === has);
  await until(
    () =>
      sql(
        product,
        'select 1 from shield_fronts f left join shield_edges e on e.id = f.edge_id where f.in_charge <> coalesce(e.node_id, f.node_id)',
      ),
    (moving) => moving.length === 0,
  );
}

beforeEach(async () => {
  for (const each of [router, other]) expect((await each.standBefore([])).status).toBe(200);
  await settledAt(product.edge);
});

describe('what filters before a machine and goes over', () => {
  it('is shown as what filters all the while, there and back', async () => {
    const { seen, through } = await watchedBy(async () => {
      for (let nth = 0; nth < 3; nth += 1) {
        await router.standBefore([node]);
        await settledAt(router.edge);
        await router.standBefore([]);
        await settledAt(product.edge);
      }
    });
    expect([...seen]).toEqual([filtering]);
    expect(through).toBe(0);
  });

  it('filters where it did until the other has it, which may fail, and what is shown says both', async () => {
    const { replace } = router.edge;
    router.edge.replace = () => Promise.reject(new EdgeError('edge_refused', 'no space left on device'));
    const { seen, through } = await watchedBy(async () => {
      await router.standBefore([node]);
      await until(
        async () => (await tenant.get(`${rulesPath}/${rule}`)).body.data.rule.enforced.error,
        (error) => error !== null,
      );
      // The comparison of the one that has nothing yet, and of the one that has it still.
      await reconcileEdge(product.ctx, router.nodeId, () => router.edge).catch(() => undefined);
      await reconcileEdge(product.ctx, node, () => product.edge);
      await pause(100);
      router.edge.replace = replace;
      await reconcileEdge(product.ctx, router.nodeId, () => router.edge);
      await settledAt(router.edge);
    });
    expect([...seen].toSorted()).toEqual([filtering, `${filtering} with an error`]);
    expect(through).toBe(0);
  });

  it('goes from one router to the next when staff says so before the first has let go', async () => {
    await router.standBefore([node]);
    await settledAt(router.edge);
    const { seen, through } = await watchedBy(async () => {
      for (const [from, to] of [
        [router, other],
        [other, router],
      ] as const) {
        expect((await from.standBefore([])).status).toBe(200);
        expect((await to.standBefore([node])).status).toBe(200);
        await settledAt(to.edge);
      }
    });
    expect([...seen]).toEqual([filtering]);
    expect(through).toBe(0);
  });

  it('stands at one of two that are told at once, however often, and at the one that staff was told last', async () => {
    const { through, given: last } = await watchedBy(async () => {
      let stands: RouterProcess | null = null;
      for (let nth = 0; nth < 6; nth += 1) {
        const [one, two] = await Promise.all([router.standBefore([node]), other.standBefore([node])]);
        expect([one.status, two.status].filter((status) => status === 200)).toHaveLength(1);
        stands = one.status === 200 ? router : other;
        if (nth < 5) await stands.standBefore([]);
      }
      return stands as unknown as RouterProcess;
    });
    await settledAt(last.edge);
    expect(through).toBe(0);
    expect(isDenied(last.edge)).toBe(true);
  });

  it('goes over once the database is back that was away in the middle, and filters meanwhile', async () => {
    const { replace } = router.edge;
    const cutIn = Promise.withResolvers<void>();
    router.edge.replace = async (policies) => {
      router.edge.replace = replace;
      await cable.cut();
      cutIn.resolve();
      await replace(policies);
    };
    const { through } = await watchedBy(async () => {
      await router.standBefore([node]);
      await cutIn.promise;
      await pause(1_500);
      // It has the policy and could not say so: the node keeps its own.
      expect([isDenied(router.edge), isDenied(product.edge)]).toEqual([true, true]);
      await cable.mend();
      await reconcileUntil(() => settledAt(router.edge));
    });
    expect(through).toBe(0);
    expect(isDenied(router.edge)).toBe(true);
  }, 120_000);

  /** The comparison comes once a minute by itself. */
  async function reconcileUntil(isDone: () => Promise<void>): Promise<void> {
    const comparing = setInterval(() => {
      reconcileEdge(product.ctx, router.nodeId, () => router.edge).catch(() => undefined);
    }, 1_000);
    await isDone().finally(() => clearInterval(comparing));
  }
});

describe('a machine that moves to another node', () => {
  let second: RouterProcess;
  const place = (to: number) =>
    sql(product, 'update placements set node_id = $1 where service_id = $2', to, tenant.serviceId);
  const everywhere = () => [...all(), second.edge];
  beforeAll(async () => {
    second = await startRouter(product, 'node-2', { env: { HYPERVISOR: 'simulator', EDGE: 'memory' } });
  }, 60_000);
  afterAll(async () => {
    await place(node);
    await second?.stop();
  });

  it.each(['the old one first', 'the new one first'])(
    'from behind a router to a node without one has its rules there before they go from the router, whoever compares: %s',
    async (order) => {
      await router.standBefore([node]);
      await settledAt(router.edge);
      const compare = [
        () => reconcileEdge(product.ctx, router.nodeId, () => router.edge),
        () => reconcileEdge(product.ctx, second.nodeId, () => second.edge),
      ];
      if (order === 'the new one first') compare.reverse();
      let open = 0;
      const sending = setInterval(() => {
        if (!isDenied(...everywhere())) open += 1;
      }, 1);
      const { seen } = await watchedBy(async () => {
        await place(second.nodeId);
        for (const each of compare) await each();
        await heldBy(second.edge, tenant.address);
        await heldBy(router.edge, tenant.address, false);
        // And back, behind the router again.
        await place(node);
        for (const each of compare.toReversed()) await each();
        await heldBy(router.edge, tenant.address);
        await heldBy(second.edge, tenant.address, false);
      });
      clearInterval(sending);
      expect(open).toBe(0);
      expect([...seen]).toEqual([filtering]);
      expect(await heldBy(product.edge, tenant.address, false)).toBe(false);
    },
  );
});
