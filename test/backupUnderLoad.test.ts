/** A backup is of one moment, also while sixteen customers order and pay. */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { runCommand } from '../src/commands/index.ts';
import { readConfig } from '../src/config.ts';
import { audit, unlessSettled } from './crash/audit.ts';
import { emptyDatabase } from './database.ts';
import { removeDataDir } from './dataDir.ts';
import { orderVps } from './orders.ts';
import { newCustomer, type Person } from './people.ts';
import { startTestProduct, type TestProduct } from './product.ts';
import { sql } from './sql.ts';

let product: TestProduct;
let customers: Person[];
const dirs: string[] = [];
const newDir = () => {
  dirs.push(mkdtempSync(path.join(tmpdir(), 'innkeeper-moment-')));
  return dirs.at(-1) ?? '';
};

beforeAll(async () => {
  product = await startTestProduct({
    env: { NETWORK4: '10.84.0.0/19' },
    simulator: {
      capacity: { cpuCores: 9_000, memoryMib: 40_000_000, diskGib: 400_000, acceleration: 'none' },
    },
  });
  customers = [];
  while (customers.length < 16) customers.push(await newCustomer(product, { creditMinor: 1_000_000 }));
});
afterAll(async () => {
  await product.stop();
  for (const dir of dirs) await removeDataDir(dir);
});

/** Orders, and pays two of three, again and again. Each order counts in `acknowledged` once it was answered. */
async function shop(customer: Person, acknowledged: number[], until: AbortSignal): Promise<void> {
  for (let nth = 0; !until.aborted; nth++) {
    const { invoiceId } = await orderVps(product, customer);
    if (nth % 3 !== 0) {
      const paid = await customer.post(`/dashboard/invoices/${invoiceId}/pay`, { method: 'credit' });
      if (paid.status !== 200) throw new Error(`paying answered ${paid.status}`);
    }
    acknowledged.push(invoiceId);
  }
}

it('holds whole orders, a ledger that balances, and everything that was acknowledged before it began', async () => {
  const acknowledged: number[] = [];
  const end = new AbortController();
  const load = Promise.all(customers.map((customer) => shop(customer, acknowledged, end.signal)));
  const backups: { file: string; before: number[]; after: number }[] = [];
  try {
    for (let nth = 0; nth < 3; nth++) {
      const before = [...acknowledged];
      const config = readConfig({
        DATABASE_URL: product.databaseUrl,
        DATA_DIR: newDir(),
        LOG_LEVEL: 'silent',
      });
      const said = await runCommand(config, ['backup', '--quick']);
      backups.push({ file: said.split(' ', 1)[0] ?? '', before, after: acknowledged.length });
    }
  } finally {
    end.abort();
    await load;
  }

  for (const { file, before, after } of backups) {
    const target = await emptyDatabase();
    const at = { databaseUrl: target.url };
    const config = readConfig({ DATABASE_URL: target.url, DATA_DIR: newDir(), LOG_LEVEL: 'silent' });
    await runCommand(config, ['restore', file]);
    expect(await audit(target.url, unlessSettled)).toEqual([]);
    const invoices = await sql<{ id: number }>(at, 'select id from invoices');
    const there = new Set(invoices.map(({ id }) => id));
    expect(before.filter((id) => !there.has(id))).toEqual([]);
    const [next] = await sql<{ isFree: boolean }>(
      at,
      `select nextval(pg_get_serial_sequence('journal', 'id')) > max(id) as "isFree" from journal`,
    );
    expect(next).toEqual({ isFree: true });
    console.log(`${before.length} orders before, ${there.size} in the backup, ${after} after it`);
    await target.drop();
  }
  expect(backups.some(({ before, after }) => after > before.length)).toBe(true);
}, 400_000);
