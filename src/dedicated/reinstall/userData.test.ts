import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { newCustomer, type Person } from '../../../test/people.ts';
import { until } from '../../../test/product.ts';
import { type ArrivingProduct, startArrivingProduct } from '../../../test/rack/arriving.ts';
import { type RentedPlayed, rentPlayed } from '../../../test/rack/stocked.ts';
import { contents, sql } from '../../../test/sql.ts';

let world: ArrivingProduct;
let customer: Person;
beforeAll(async () => {
  world = await startArrivingProduct();
  customer = await newCustomer(world.product, { creditMinor: 10_000_000 });
  const { imagesDir } = world.product.ctx.config;
  // As if it was built already.
  const folder = join(imagesDir ?? '', 'tree-debian-12-3');
  await mkdir(folder, { recursive: true });
  for (const name of ['tree.tar.zst', 'sha256']) await writeFile(join(folder, name), '5a'.repeat(32));
});
afterAll(() => world.product.stop());

/** Whose product is sold with Debian as well. */
async function rented(): Promise<RentedPlayed> {
  const server = await rentPlayed(world, customer);
  const choices = ['tiny', 'debian'].map((value) => ({ value, label: value, price_minor: 0 }));
  await sql(
    world.product,
    `update product_options set choices = $2::jsonb where product_id = $1 and key = 'option6'`,
    server.productId,
    JSON.stringify(choices),
  );
  return server;
}

const wanted = { os: 'debian', password: 'Good-Pass-1', confirm: 'metal1.example.com' };

it('what a customer wants done at the first start reaches the system word for word, and is nowhere before, meanwhile or afterwards', async () => {
  const server = await rented();
  const word = 'canary-4711';
  const said = `#cloud-config\nwrite_files: [{path: /x, content: "${word} $(reboot) ünïcode"}]`;
  const body = { ...wanted, hostname: 'metal2.example.com', user_data: said };
  const known = async () =>
    Object.values(await contents(world.product))
      .flat()
      .filter((row) => row.includes(word));
  let meanwhile: string[] | null = null;
  server.does.at = async () => {
    meanwhile ??= await known();
  };
  const answer = await customer.post(`${server.path}/reinstall`, body);
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  const done = await until(
    async () => (await customer.get(`${server.path}/history`)).body.data.actions[0],
    ({ status }) => !['queued', 'running'].includes(status),
    90_000,
  );
  expect(done).toMatchObject({ status: 'success' });
  expect(server.plans.at(-1).identity).toMatchObject({ userData: said, hostname: 'metal2.example.com' });
  expect(meanwhile).toEqual([]);
  expect(await known()).toEqual([]);
  const plans = await sql(world.product, 'select id from server_assignments where plan is not null');
  expect(plans).toEqual([]);
  // It is called so from then on.
  expect((await customer.get(`${server.path}/overview`)).body.data.dedicated).toMatchObject({
    ...{ hostname: 'metal2.example.com', os: { slug: 'debian' } },
  });
}, 120_000);

it('is refused where no program reads it, and where it is longer than a machine takes', async () => {
  const server = await rented();
  const refused = async (change: object) => {
    const { status, body } = await customer.post(`${server.path}/reinstall`, { ...wanted, ...change });
    return [status, body.code, body.details?.[0]?.field, body.details?.[0]?.message];
  };
  expect(await refused({ os: 'tiny', user_data: '#!/bin/sh' })).toEqual([
    ...[400, 'invalid_request', 'user_data', expect.stringContaining('tiny, which has no cloud-init')],
  ]);
  const bytes = 'ü'.repeat(40 * 1024);
  expect(await refused({ user_data: bytes })).toEqual([
    ...[400, 'invalid_request', 'user_data', expect.stringContaining('65536 bytes of UTF-8')],
  ]);
  expect((await refused({ user_data: 'x'.repeat(70_000) })).slice(0, 3)).toEqual([
    400,
    'invalid_request',
    'user_data',
  ]);
  expect((await refused({ user_data: { a: 1 } })).slice(0, 2)).toEqual([400, 'invalid_request']);
  expect(server.wipes).toBe(1);
}, 120_000);
