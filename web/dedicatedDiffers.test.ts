/** What a customer reads of the parts of their server that are not as they were measured, in a real browser, against the product itself. */
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { rentServer } from '../src/fleet/index.ts';
import { transaction } from '../src/platform/index.ts';
import { completeDelivery, requireOrder } from '../src/services/index.ts';
import { newServerProduct, newServers, serverCart } from '../test/rack/stock.ts';
import { sql } from '../test/sql.ts';
import { type Bed, openBed, signIn } from './testbed.ts';

let bed: Bed;
beforeAll(async () => {
  bed = await openBed({ env: { HYPERVISOR: 'simulator' } });
});
afterEach(async () => {
  await bed.closeWindows();
  await bed.product.customer.post('/dashboard/account/preferences', { language: 'en' });
});
afterAll(() => bed?.close());

const measured = {
  system: { uuid: 'u', vendor: 'Example', product: 'One', serial: 'S' },
  firmware: { version: '1', boot: 'bios' },
  processor: { model: 'EPYC', sockets: 1, cores: 8, threads: 16 },
  memoryMib: 32_768,
  memoryModules: [{ slot: 'A1', mib: 32_768, type: 'DDR4' }],
  disks: [
    { serial: 'D1', model: 'PM9A3', firmware: '1', bytes: 960_000_000_000, kind: 'nvme', healthy: true },
    { serial: 'D2', model: 'PM9A3', firmware: '1', bytes: 960_000_000_000, kind: 'nvme', healthy: true },
  ],
  ports: [{ name: 'eth0', mac: '52:54:00:00:2e:01', linked: true }],
  bmc: null,
};
const [first, second] = measured.disks;
const seen = {
  ...measured,
  processor: { ...measured.processor, cores: 6, threads: 12 },
  memoryMib: 16_384,
  memoryModules: [{ slot: 'A1', mib: 16_384, type: 'DDR4' }],
  disks: [{ ...first, healthy: false }],
  ports: [...measured.ports, { name: 'eth1', mac: '52:54:00:00:2e:02', linked: true }],
};

it.each(['en', 'de'] as const)(
  'is said in their language: %s',
  async (language) => {
    const { product } = bed;
    const productId = await newServerProduct(product);
    const { serverIds } = await newServers(product, productId, 1);
    const { body } = await product.customer.post('/cart/checkout/invoice', serverCart(productId));
    const id = body.data.service_ids[0] as number;
    await transaction(product.ctx, 'test.deliver', async (tx) => {
      const order = await requireOrder(tx, id);
      await completeDelivery(tx, order, { hostname: order.domain, primaryIp: null });
      await rentServer(tx, id);
    });
    await sql(
      product,
      'update servers set hardware = $2::jsonb, measured_at = now(), seen_hardware = $3::jsonb, seen_at = now() where id = $1',
      ...[serverIds[0], JSON.stringify(measured), JSON.stringify(seen)],
    );
    await product.customer.post('/dashboard/account/preferences', { language });
    const visitor = await bed.open();
    await signIn(bed, visitor, `/services/${id}/hardware`);
    const say = (english: string, german: string) => (language === 'en' ? english : german);
    const list = visitor.page.getByRole('table', {
      name: say('What differs since', 'Was seitdem anders ist'),
    });
    await list.waitFor();
    const rows = (await list.getByRole('row').allInnerTexts()).map((row) => row.replaceAll('\u00a0', ' '));
    const of = (name: string) => (rows.find((row) => row.includes(name)) ?? '').split('\t').slice(1, 3);
    const [good, gone] = ['PM9A3 (NVMe, 960 GB)', say('Not there', 'Nicht vorhanden')];
    expect(of('D1')).toEqual([good, `${good} · ${say('Failing', 'Fehlerhaft')}`]);
    expect(of(second?.serial ?? '')).toEqual([good, gone]);
    expect(of('A1')).toEqual(['32 GB DDR4', '16 GB DDR4']);
    const cores = say('cores', 'Kerne');
    expect(of(say('Processor', 'Prozessor'))).toEqual([
      `1 × EPYC, 8 ${cores}, 16 ${say('threads', 'Threads')}`,
      `1 × EPYC, 6 ${cores}, 12 ${say('threads', 'Threads')}`,
    ]);
    expect(of('52:54:00:00:2e:02')).toEqual([gone, say('There', 'Vorhanden')]);
    expect([...(await visitor.faults()), ...visitor.complaints()]).toEqual([]);
  },
  90_000,
);
