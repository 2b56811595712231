import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestProduct, type TestProduct } from '../../../test/product.ts';
import { sql } from '../../../test/sql.ts';

let product: TestProduct;
beforeAll(async () => {
  product = await startTestProduct();
});
afterAll(() => product.stop());

let made = 0;
async function newRack(more: object = {}): Promise<number> {
  made += 1;
  const rack = { name: `R${made}`, location: 'AMS', units: 42, ...more };
  const { status, body } = await product.staff.post('/staff/racks', rack);
  expect(status, JSON.stringify(body)).toBe(200);
  return body.data.rack.id;
}
async function newServer(more: object = {}) {
  made += 1;
  const server = { name: `s${made}`, serial: `S/N ${made}`, ...more };
  const { status, body } = await product.staff.post('/staff/servers', server);
  expect(status, JSON.stringify(body)).toBe(200);
  return body.data.server;
}
const rackOf = async (id: number) => (await product.staff.get(`/staff/racks/${id}`)).body.data.rack;

describe('a rack', () => {
  it('is there once by its name, and says how much of it is taken', async () => {
    const id = await newRack({ name: 'AMS-2', power_watts: 7_000 });
    const same = await product.staff.post('/staff/racks', { name: 'AMS-2', location: 'FRA', units: 10 });
    expect([same.status, same.body.message]).toEqual([409, 'There is a rack called AMS-2 already']);
    await newServer({ rack_id: id, unit: 1, height: 2 });
    await newServer({ rack_id: id, unit: 42 });
    expect(await rackOf(id)).toMatchObject({ servers: 2, units_taken: 3, power_watts: 7_000, note: null });
  });

  it('never gets fewer units than what stands in it needs', async () => {
    const id = await newRack();
    const { name } = await newServer({ rack_id: id, unit: 19, height: 2 });
    const path = `/staff/racks/${id}`;
    const refused = await product.staff.patch(path, { units: 19, note: 'smaller' });
    expect(refused.body.details).toEqual([
      { field: 'units', message: `must be at least 20: ${name} stands up there` },
    ]);
    expect(await rackOf(id)).toMatchObject({ units: 42, note: null });
    const changed = await product.staff.patch(path, { units: 20, note: 'smaller', power_watts: null });
    expect(changed.body.data.rack).toMatchObject({ units: 20, note: 'smaller' });
  });

  it('is removed only when nothing stands in it', async () => {
    const id = await newRack({ name: 'old' });
    const server = await newServer({ rack_id: id, unit: 1 });
    const refused = await product.staff.delete(`/staff/racks/${id}`);
    expect([refused.status, refused.body.message]).toEqual([
      409,
      'A server stands in old; place or retire them first',
    ]);
    await product.staff.patch(`/staff/servers/${server.id}`, { rack_id: null, unit: null });
    expect((await product.staff.delete(`/staff/racks/${id}`)).status).toBe(200);
    const told = await sql<{ action: string }>(
      product,
      `select action from journal where subject_type = 'rack' and subject_id = $1 order by id`,
      String(id),
    );
    expect(told.map(({ action }) => action)).toEqual(['rack.created', 'rack.deleted']);
  });
});

describe('a place in a rack', () => {
  it.each<[string, (rack: number) => object, string, RegExp]>([
    ['without a unit', (rack) => ({ rack_id: rack }), 'unit', /must be given with the rack/],
    ['without a rack', () => ({ unit: 3 }), 'rack_id', /must be given with the unit/],
    ['in a rack that is none', () => ({ rack_id: 999_999, unit: 3 }), 'rack_id', /is no rack/],
    [
      'above its top',
      (rack) => ({ rack_id: rack, unit: 9, height: 3 }),
      'unit',
      /leads above R\d+, which has 10/,
    ],
    [
      'that is taken from below',
      (rack) => ({ rack_id: rack, unit: 3, height: 2 }),
      'unit',
      /: base stands there/,
    ],
    ['that is taken from above', (rack) => ({ rack_id: rack, unit: 5 }), 'unit', /: base stands there/],
  ])('is refused in words: %s', async (_what, place, field, words) => {
    const rack = await newRack({ units: 10 });
    const base = await newServer({ name: 'base', rack_id: rack, unit: 4, height: 2 });
    made += 1;
    const { status, body } = await product.staff.post('/staff/servers', {
      ...{ name: `s${made}`, serial: `S/N ${made}`, ...place(rack) },
    });
    expect([status, body.code, body.details[0].field]).toEqual([400, 'invalid_request', field]);
    expect(body.details[0].message).toMatch(words);
    expect(await rackOf(rack)).toMatchObject({ servers: 1 });
    await product.staff.patch(`/staff/servers/${base.id}`, { name: `base-${base.id}` });
  });

  it('goes to one of two who want it at once', async () => {
    const rack = await newRack();
    const [one, other] = [await newServer(), await newServer()];
    const placed = await Promise.all(
      [one, other].map(({ id }) =>
        product.staff.patch(`/staff/servers/${id}`, { rack_id: rack, unit: 5, height: 2 }),
      ),
    );
    expect(placed.map(({ status }) => status).sort()).toEqual([200, 400]);
    expect(await rackOf(rack)).toMatchObject({ servers: 1, units_taken: 2 });
  });

  it('may be changed to one that overlaps the server’s own', async () => {
    const rack = await newRack();
    const { id } = await newServer({ rack_id: rack, unit: 5, height: 2 });
    const moved = await product.staff.patch(`/staff/servers/${id}`, { unit: 6 });
    expect(moved.body.data.server).toMatchObject({ unit: 6, height: 2, location: 'AMS' });
  });
});
