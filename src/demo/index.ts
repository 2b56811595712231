/**
 * The demonstration company: on an empty database it gives a newcomer products, two customers and a member of
 * staff to try everything with. `demo.json` in the data directory says who they are.
 */
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createApiKey, createUser, giveTotp, type StaffRole } from '../account/index.ts';
import { grantCredit } from '../billing/index.ts';
import { addProduct } from '../catalog/index.ts';
import { foundOrganization } from '../organizations/index.ts';
import { writeDurably } from '../platform/host/durable.ts';
import { type Context, statement, type TxContext, transaction } from '../platform/index.ts';
import { demoProducts } from './products.ts';

export { type DemoRack, openDemoRack } from './rack/index.ts';

export interface DemoCustomer {
  email: string;
  password: string;
  api_key: string;
  organization_id: number;
}

export interface Demo {
  base_url: string;
  dashboard_url: string;
  customer: DemoCustomer;
  other_customer: DemoCustomer;
  /** With the secret of the authenticator app that staff signs in with. */
  staff: { email: string; password: string; api_key: string; totp_secret: string };
  products: Record<'vps' | 'dedicated' | 'hosting' | 'domain', number>;
}

const creditMinor = 20_000;

// Of two processes that start at once the second waits, and finds that it is done.
const takeTurn = statement('demo.takeTurn', 'select pg_advisory_xact_lock(741121)');
const hasUsers = statement<{ has: boolean }>('demo.hasUsers', 'select exists (select 1 from users) as has');

/**
 * Fills an empty database, and writes `demo.json` before it commits: a crash in between leaves a file that the
 * next start overwrites, never a company whose keys nobody knows. Returns the demo; null when there is none.
 */
export async function openDemo(ctx: Context, dataDir: string, baseUrl: string): Promise<Demo | null> {
  const file = join(dataDir, 'demo.json');
  const made = await transaction(ctx, 'demo.fill', async (tx) => {
    await tx.db.run(takeTurn);
    if ((await tx.db.one(hasUsers)).has) return null;
    const demo = await fill(tx, baseUrl);
    await writeDurably(file, `${JSON.stringify(demo, null, 2)}\n`);
    return demo;
  });
  if (made !== null) return made;
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Demo) : null;
}

async function fill(tx: TxContext, baseUrl: string): Promise<Demo> {
  const products = demoProducts(tx.config.location);
  return {
    base_url: `${baseUrl}/api`,
    dashboard_url: `${baseUrl}/`,
    customer: await customer(
      tx,
      { email: 'ada@example.com', firstName: 'Ada', lastName: 'Novak' },
      'Novak Labs',
    ),
    other_customer: await customer(
      tx,
      { email: 'ben@example.com', firstName: 'Ben', lastName: 'Okoye' },
      'Okoye GmbH',
    ),
    staff: await person(
      tx,
      { email: 'staff@example.com', firstName: 'Sam', lastName: 'Keeper' },
      'administrator',
    ),
    products: {
      vps: await addProduct(tx, products.vps),
      dedicated: await addProduct(tx, products.dedicated),
      hosting: await addProduct(tx, products.hosting),
      domain: await addProduct(tx, products.domain),
    },
  };
}

interface Name {
  email: string;
  firstName: string;
  lastName: string;
}

async function customer(tx: TxContext, name: Name, company: string): Promise<DemoCustomer> {
  const { userId, ...signIn } = await account(tx, name);
  const organizationId = await foundOrganization(tx, { name: company, country: null, ownerId: userId });
  await grantCredit(tx, organizationId, creditMinor, 'EUR', 'Welcome');
  return { ...signIn, organization_id: organizationId };
}

async function person(tx: TxContext, name: Name, staffRole: StaffRole) {
  const { userId, ...signIn } = await account(tx, name, staffRole);
  return { ...signIn, totp_secret: await giveTotp(tx, userId, name.email) };
}

async function account(tx: TxContext, name: Name, staffRole?: StaffRole) {
  const password = randomBytes(12).toString('base64url');
  const userId = await createUser(tx, { ...name, password, ...(staffRole ? { staffRole } : {}) });
  const { key } = await createApiKey(tx, userId, 'Demo');
  return { userId, email: name.email, password, api_key: key };
}
