/** The console and the password of a server that a customer rents, in a real browser, against the product itself. */
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { ownPassword } from '../src/dedicated/credentials/keep.ts';
import { openBmcs, type SimulatedBmc, simulatedRack } from '../src/drivers/bmc/index.ts';
import { rentServer } from '../src/fleet/index.ts';
import { transaction } from '../src/platform/index.ts';
import { completeDelivery, requireOrder } from '../src/services/index.ts';
import { newServerProduct, newServers, serverCart } from '../test/rack/stock.ts';
import { settled, sql } from '../test/sql.ts';
import { type Bed, openBed, signIn } from './testbed.ts';

const rack = simulatedRack();
let bed: Bed;
beforeAll(async () => {
  bed = await openBed({
    env: { HYPERVISOR: 'simulator' },
    drivers: { bmc: openBmcs({ rack, offForMs: 0 }) },
  });
});
afterEach(() => bed.closeWindows());
afterAll(() => bed?.close());

let made = 0;
/** A server that the customer of the demonstration has, with a password that we made. */
async function rented(): Promise<{ id: number; serverId: number; bmc: SimulatedBmc; password: string }> {
  const { product } = bed;
  made += 1;
  const address = `198.51.102.${made}`;
  const bmc = rack.put(address, { power: 'on' });
  const productId = await newServerProduct(product);
  const { serverIds } = await newServers(product, productId, 1);
  const serverId = serverIds[0] ?? 0;
  await product.staff.patch(`/staff/servers/${serverId}`, {
    macs: [`52:54:00:00:3d:${String(made).padStart(2, '0')}`],
    bmc: { kind: 'simulated', address, user: 'root', password: 'factory-1' },
  });
  const domain = `line${made}.example.com`;
  const { body } = await product.customer.post(
    '/cart/checkout/invoice',
    serverCart(productId, { option5: 1, domain }),
  );
  const id = body.data.service_ids[0] as number;
  const password = await transaction(product.ctx, 'test.deliver', async (tx) => {
    const order = await requireOrder(tx, id);
    const own = await ownPassword(tx, id, order.organizationId);
    await completeDelivery(tx, order, { hostname: order.domain, primaryIp: null });
    await rentServer(tx, id);
    return own;
  });
  await product.periodic('fleet.askBmcs');
  await settled(product);
  return { id, serverId, bmc, password };
}

const corners = [
  { name: 'wide', viewport: { width: 1280, height: 800 } },
  { name: 'a phone', viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true },
] as const;

for (const { name, ...context } of corners)
  it(`shows the serial line, takes what is typed, and says that somebody else has opened it: ${name}`, async () => {
    const { id, bmc } = await rented();
    const visitor = await bed.open(context);
    const { page } = visitor;
    await signIn(bed, visitor, `/services/${id}/console`);
    await page.getByText('Connected', { exact: true }).waitFor();
    const screen = page.locator('.xterm-accessibility');
    bmc.line.print('line1 login: ');
    await expect.poll(() => screen.innerText()).toContain('login:');
    await page.keyboard.type('typed-by-hand');
    await expect.poll(() => bmc.line.typed).toContain('typed-by-hand');
    // A server has a serial line alone.
    expect(await page.getByRole('link', { name: 'Screen' }).count()).toBe(0);
    expect([...(await visitor.faults()), ...visitor.complaints()]).toEqual([]);

    bmc.line.take();
    await page.getByText('Somebody else has opened this console').waitFor();
    await page.getByRole('button', { name: 'Connect again' }).click();
    await page.getByText('Connected', { exact: true }).waitFor();
    bmc.line.print('here again');
    await expect.poll(() => screen.innerText()).toContain('here again');
    expect(await visitor.faults()).toEqual([]);
  });

it('ends in words when an installer begins on it, and says why it is not shown', async () => {
  const { id, serverId } = await rented();
  const visitor = await bed.open();
  const { page } = visitor;
  await signIn(bed, visitor, `/services/${id}/console`);
  await page.getByText('Connected', { exact: true }).waitFor();
  await sql(
    bed.product,
    `insert into server_assignments (server_id, kind, state, disks, opened_at) values ($1, 'install', 'open', '[]', now())`,
    serverId,
  );
  await page.getByText('This console is not shown to you any more').waitFor();
  await page.getByRole('button', { name: 'Connect again' }).click();
  await page.getByText('Our installer has the serial line of this server').waitFor();
});

it('shows the password once, and then to whom it was shown', async () => {
  const { id, password } = await rented();
  const visitor = await bed.open();
  const { page } = visitor;
  await signIn(bed, visitor, `/services/${id}`);
  await page.getByRole('button', { name: 'Show once' }).click();
  await page.getByText(password, { exact: true }).waitFor();
  expect([...(await visitor.faults()), ...visitor.complaints()]).toEqual([]);
  await page.reload();
  await page.getByText('The password that we made was shown to').waitFor();
  expect(await page.getByText(password).count()).toBe(0);
  expect(await page.getByRole('button', { name: 'Show once' }).count()).toBe(0);
});
