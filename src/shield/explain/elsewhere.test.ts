import { copyFile, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Child, startChild } from '../../../test/child.ts';
import { apiClient, type Client } from '../../../test/client.ts';
import { removeDataDir } from '../../../test/dataDir.ts';
import { until } from '../../../test/product.ts';
import { sql } from '../../../test/sql.ts';
import { EdgeError } from '../../drivers/edge/index.ts';
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

describe('a process that answers requests and has no node', () => {
  let product: ShieldedProduct;
  let tenant: Tenant;
  let folder: string;
  let api: Child;
  let there: Client;
  beforeAll(async () => {
    product = await startShielded();
    tenant = await newTenant(product);
    folder = await mkdtemp(path.join(tmpdir(), 'innkeeper-api-'));
    await copyFile(path.join(product.ctx.config.dataDir, 'secret.key'), path.join(folder, 'secret.key'));
    api = await startChild(folder, { DATABASE_URL: product.databaseUrl, ROLE: 'api', DEMO: 'off' });
    const { key: token, organizationId } = tenant;
    there = apiClient(`${api.url}/api`, { token, organizationId });
  }, 120_000);
  afterAll(async () => {
    await api?.end('SIGTERM');
    await product?.stop();
    if (folder !== undefined) await removeDataDir(folder);
  });

  const body = () => ({
    ...{ source: packet(tenant.address).source, destination: tenant.address, protocol: 6 },
    ...{ destination_port: 22, live: true, packets: 3, seconds: 8 },
  });
  const ask = (change: object = {}) => there.post(`${rulesPath}/explain`, { ...body(), ...change });
  /** While somebody sends them. */
  async function amid<T>(work: () => Promise<T>): Promise<T> {
    const sending = setInterval(() => product.edge.pass(packet(tenant.address)), 20);
    return work().finally(() => clearInterval(sending));
  }
  /** The connections over which it is told. */
  const listening = async () =>
    (
      await sql<{ pid: number }>(
        product,
        `select pid from pg_locks where locktype = 'advisory' and classid = 741105
           and objid::bigint = hashtext('innkeeper_traces')::bigint & 4294967295`,
      )
    ).map(({ pid }) => pid);

  it('has packets traced by the process of the node, and is told as soon as they were', async () => {
    const id = await ruleInForce(tenant, dropSsh(tenant.address));
    const began = Date.now();
    const { status, body: answer } = await amid(() => ask());
    expect([status, answer.data?.rule_id], JSON.stringify(answer)).toEqual([200, id]);
    const taken = { action: 'deny', by: 'rule', rule_id: id };
    expect(answer.data.live).toMatchObject({ seconds: 8, packets: [taken, taken, taken] });
    // It looks for itself only every two seconds.
    expect(Date.now() - began).toBeLessThan(1_900);
    expect(await sql(product, 'select 1 from shield_traces')).toEqual([]);
  });

  it('says so where none came, keeps nothing, and lets go of the connection over which it is told', async () => {
    const none = await ask({ destination_port: 7, seconds: 1 });
    expect([none.status, none.body.data?.live]).toEqual([200, { seconds: 1, packets: [] }]);
    expect(await sql(product, 'select 1 from shield_traces')).toEqual([]);
    await expect.poll(listening).toEqual([]);
  });

  it('sends all the same what was asked for when the messages do not reach it', async () => {
    const answer = ask({ packets: 1 });
    const pid = await until(listening, (pids) => pids.length === 1);
    await sql(product, 'select pg_terminate_backend($1)', ...pid);
    const { status, body: told } = await amid(() => answer);
    expect([status, told.data?.live.packets.length]).toEqual([200, 1]);
  });

  it('refuses what is not theirs, and says in words what the edge cannot do', async () => {
    expect((await ask({ destination: '192.0.2.9' })).status).toBe(403);
    const { trace } = product.edge;
    product.edge.trace = () => Promise.reject(new EdgeError('edge_refused', 'secret words of nft'));
    const failed = await ask().finally(() => {
      product.edge.trace = trace;
    });
    expect([failed.status, failed.body.code]).toEqual([503, 'unavailable']);
    expect(failed.body.message).not.toContain('nft');
  });

  it('says that the node is not in reach while nobody hears of it', async () => {
    await sql(product, 'update nodes set reachable = false');
    const gone = await ask({ seconds: 1 });
    await sql(product, 'update nodes set reachable = true');
    expect([gone.status, gone.body.code]).toEqual([503, 'unavailable']);
  });
});
