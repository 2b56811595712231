import { randomBytes } from 'node:crypto';
import { createApiKey, type StaffRole } from '../src/account/index.ts';
import { hashPassword } from '../src/account/signIn/passwords.ts';
import { insertAccount } from '../src/account/users.ts';
import { grantCredit } from '../src/billing/index.ts';
import { foundOrganization, type Role } from '../src/organizations/index.ts';
import { type TxContext, transaction } from '../src/platform/index.ts';
import { apiClient, type Client, type Response } from './client.ts';
import type { TestProduct } from './product.ts';
import { sql } from './sql.ts';

/** A client of the API with who it is. */
export interface Person extends Client {
  userId: number;
  organizationId: number;
  email: string;
  key: string;
  password: string;
}

interface NewPerson {
  firstName?: string;
  staffRole?: StaffRole;
}

export interface NewCustomer extends NewPerson {
  /** Decides the tax. */
  country?: string | null;
  creditMinor?: number;
}

/** Somebody with an organization of their own, so that tests of one file do not meet. */
export async function newCustomer(product: TestProduct, options: NewCustomer = {}): Promise<Person> {
  return transaction(product.ctx, 'test.newCustomer', async (tx) => {
    const person = await newPerson(tx, options);
    const organization = { name: 'A company', country: options.country ?? null, ownerId: person.userId };
    const organizationId = await foundOrganization(tx, organization);
    if (options.creditMinor) await grantCredit(tx, organizationId, options.creditMinor, 'EUR', 'For a test');
    return withClient(product, person, organizationId);
  });
}

/** Somebody with a role in an organization that exists. */
export async function newMember(product: TestProduct, organizationId: number, role: Role): Promise<Person> {
  const person = await transaction(product.ctx, 'test.newMember', (tx) => newPerson(tx, {}));
  await sql(
    product,
    'insert into memberships (organization_id, user_id, role, joined_at) values ($1, $2, $3, $4)',
    ...[organizationId, person.userId, role, product.clock.now()],
  );
  return withClient(product, person, organizationId);
}

/** Somebody of the provider's. */
export async function newStaff(product: TestProduct, staffRole: StaffRole) {
  const person = await transaction(product.ctx, 'test.newStaff', (tx) => newPerson(tx, { staffRole }));
  return { ...person, ...apiClient(`${product.url}/api`, { token: person.key }) };
}

/** Somebody of the provider's, signed in as if with a second factor. */
export async function staffHere(product: TestProduct, staffRole: StaffRole) {
  const person = await newStaff(product, staffRole);
  const here = await signedIn(product, person);
  await sql(product, 'update sessions set strong = true where id = $1', here.sessionId);
  return { ...here, userId: person.userId, email: person.email, password: person.password, key: person.key };
}

/** Of everybody here: to hash one for each took longer than all else of a new account. */
const password = randomBytes(12).toString('base64url');
let passwordHash: string | null = null;

async function newPerson(tx: TxContext, { firstName = 'Test', staffRole }: NewPerson) {
  const email = `${randomBytes(6).toString('hex')}@example.com`;
  passwordHash ??= await hashPassword(password);
  const userId = await insertAccount(tx, {
    ...{ email, firstName, lastName: 'Person', passwordHash, emailVerified: true },
    ...(staffRole ? { staffRole } : {}),
  });
  return { userId, email, password, key: (await createApiKey(tx, userId, 'Test')).key };
}

function withClient(
  product: TestProduct,
  person: { userId: number; email: string; key: string; password: string },
  organizationId: number,
): Person {
  return {
    ...person,
    organizationId,
    ...apiClient(`${product.url}/api`, { token: person.key, organizationId }),
  };
}

/** A client of somebody who signed in, with what their browser keeps. */
export interface SignedIn extends Client {
  sessionId: number;
  token: string;
  /** The whole header `cookie`. */
  cookie: string;
}

/** Signs somebody in as their browser does; a browser that was here before sends its cookies. */
export async function signedIn(
  product: TestProduct,
  person: { email: string; password: string; organizationId?: number },
  headers: Record<string, string> = {},
): Promise<SignedIn> {
  const { email, password } = person;
  const answer = await product.nobody.post('/auth/login', { email, password }, headers);
  if (answer.status !== 200) throw new Error(`not signed in: ${JSON.stringify(answer.body)}`);
  return sessionOf(product, answer, person.organizationId);
}

/** The client of the session that an answer opened. */
export async function sessionOf(
  product: TestProduct,
  answer: Response,
  organizationId?: number,
): Promise<SignedIn> {
  const cookies = cookiesOf(answer);
  const token = cookies['__Host-innkeeper'] ?? '';
  const [row] = await sql<{ id: number }>(
    product,
    `select id from sessions where hash = sha256(convert_to($1, 'UTF8'))`,
    token,
  );
  return {
    ...apiClient(`${product.url}/api`, { token, organizationId }),
    sessionId: Number(row?.id),
    token,
    cookie: Object.entries(cookies)
      .map(([name, value]) => `${name}=${value}`)
      .join('; '),
  };
}

/** The cookies that an answer sets, by name. */
export function cookiesOf({ headers }: Response): Record<string, string> {
  return Object.fromEntries(
    headers.getSetCookie().map((line) => {
      const [name = '', value = ''] = (line.split(';', 1)[0] ?? '').split('=');
      return [name, value];
    }),
  );
}
