/**
 * What the bench compares the API with: `node:http`, the same pool, the same prepared statements, JSON written by
 * hand, and nothing else. It runs as a program of its own: `node bench/bare.ts` with DATABASE_URL. `REMEMBER=on` asks
 * who a key belongs to once a second, as the product does; without it, at every request. `PREPARED=ours` runs the
 * statements through the product's `prepared.ts` instead of the driver as it comes.
 */
import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import pg from 'pg';
import { allRoutes } from '../src/api.ts';
import { authenticator } from '../src/organizations/index.ts';
import { allStatements, type Statement, valuesOf } from '../src/platform/database/index.ts';
import { execute } from '../src/platform/database/prepared.ts';

// Imported for their statements alone.
if (allRoutes.length === 0 || authenticator.length === 0) throw new Error('nothing to compare with');

const types = new pg.TypeOverrides();
types.setTypeParser(pg.types.builtins.INT8, Number);
types.setTypeParser(pg.types.builtins.DATE, (text: string) => text);
const pool = new pg.Pool({
  connectionString: process.env.DATABASE_URL,
  types,
  max: 8,
  pipeline: true,
  idleTimeoutMillis: 60_000,
  keepAlive: true,
});
const findCaller = statementOf('organizations.findCaller');
const serviceById = statementOf('services.byId');
const runsAsWeDo = process.env.PREPARED === 'ours';
const remembers = process.env.REMEMBER === 'on';
const remembered = new Map<string, number>();

function statementOf(name: string): Statement<unknown, object> {
  const found = allStatements().find((statement) => statement.name === name);
  if (!found) throw new Error(`the product no longer has the statement ${name}`);
  return found;
}

function query(statement: Statement<unknown, object>, params: object) {
  const values = valuesOf(statement, params);
  if (runsAsWeDo) return execute(pool, statement, values);
  return pool.query({ name: statement.name, text: statement.text, values });
}

const server = createServer(async (request, response) => {
  const token = String(request.headers.token);
  const organization = Number(request.headers['x-organization-id']);
  const now = Date.now();
  if (!remembers || now - (remembered.get(token) ?? 0) >= 1_000) {
    const hash = createHash('sha256').update(token).digest();
    const { rows } = await query(findCaller, { hash, organizationId: organization, now: new Date(now) });
    if (rows[0]?.role == null) return void response.writeHead(403).end();
    if (remembers) remembered.set(token, now);
  }
  const id = Number(request.url?.slice(request.url.lastIndexOf('/') + 1));
  const { rows } = await query(serviceById, { id });
  const row = rows[0];
  if (row?.organization_id !== organization) return void response.writeHead(404).end();
  const body = json(row);
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) });
  response.end(body);
});

const typeByModule = ['', 'other', 'vps', 'hosting', 'domain', 'dedicated'];
const money = (minor: number) => `"${Math.trunc(minor / 100)}.${String(minor % 100).padStart(2, '0')}"`;
const text = (value: string | null) => JSON.stringify(value);
const time = (value: Date | null) => (value === null ? 'null' : `"${value.toISOString()}"`);

// biome-ignore lint/suspicious/noExplicitAny: by hand means without types too
function json(row: any): string {
  return (
    `{"success":true,"data":{"service":{"id":${row.id},"type":"${typeByModule[row.module_id]}",` +
    `"domain":${text(row.domain)},"hostname":${text(row.domain)},"status":"${row.status}",` +
    `"provisioning_state":"${row.provisioning_state}","suspend_reason":${text(row.suspend_reason)},` +
    `"suspended_at":${time(row.suspended_at)},"billingCycle":"${row.cycle}","cancelled":${row.cancelled},` +
    `"created_at":${time(row.created_at)},"firstPrice":${money(row.first_price_minor)},` +
    `"price":${money(row.price_minor)},"currency":"${row.currency}","duedate":${text(row.duedate)},` +
    `"note":${text(row.note)},"auto_renew":${row.auto_renew},"primary_ip":${text(row.primary_ip)},` +
    `"options":${JSON.stringify(row.options)},"product":{"id":${row.product_id},"name":${text(row.product_name)},` +
    `"description":${text(row.product_description)},` +
    `"price":${row.product_price_minor === null ? 'null' : money(row.product_price_minor)},` +
    `"group":{"id":${row.group_id},"name":${text(row.group_name)}}}}}}`
  );
}

server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  process.send?.({ url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}` });
});
process.on('disconnect', () => process.exit(0));
