/** Registering, and asking for a way in, while mails do not leave or the product dies: nothing that was answered is lost. */
import { randomBytes } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startChild } from '../../../test/child.ts';
import { apiClient, type Client } from '../../../test/client.ts';
import { testDatabase } from '../../../test/database.ts';
import { removeDataDir } from '../../../test/dataDir.ts';
import { until } from '../../../test/product.ts';
import { headersOf, type MailServer, mailServer } from '../../../test/smtp.ts';
import { settled, sql } from '../../../test/sql.ts';

let server: MailServer;
let database: Awaited<ReturnType<typeof testDatabase>>;
const dataDir = mkdtempSync(join(tmpdir(), 'innkeeper-away-'));
beforeAll(async () => {
  [server, database] = [await mailServer(), await testDatabase()];
});
afterAll(async () => {
  await server.close();
  await database.drop();
  await removeDataDir(dataDir);
});

const newEmail = () => `${randomBytes(6).toString('hex')}@example.com`;
const password = 'seven otters read maps';
const register = (nobody: Client, email: string) =>
  nobody.post('/auth/register', { email, password, first_name: 'Grace', last_name: 'Lindqvist' });
/** A mail as its reader sees it. */
const textTo = (email: string) =>
  server.mails
    .filter(({ to }) => to.includes(email))
    .map(({ text }) => text.replaceAll('=\r\n', '').replaceAll('=3D', '='));
const tokenIn = (text: string | undefined) => /\?token=([\w-]+)/.exec(text ?? '')?.[1] ?? '';

it('is answered while no mail leaves; after kill -9 each mail follows once, and its link works', {
  timeout: 120_000,
}, async () => {
  const env = { DATABASE_URL: database.url, SMTP_URL: server.url, HYPERVISOR: 'simulator' };
  server.refuseWith(451);
  const first = await startChild(dataDir, env);
  const { api_key: token, organization_id: organizationId, email: customer } = first.demo.customer;
  const [nobody, owner] = [
    apiClient(`${first.url}/api`, {}),
    apiClient(`${first.url}/api`, { token, organizationId }),
  ];
  const [tried, atOnce, guest] = [newEmail(), newEmail(), newEmail()];
  expect((await register(nobody, tried)).body.data).toEqual({ mail_sent: true });
  // Its mail was tried, and could not leave.
  await until(
    async () => server.refused,
    (count) => count > 0,
  );
  const invitations = `/dashboard/organizations/${organizationId}/invitations`;
  expect((await owner.post(invitations, { email: guest, role: 'viewer' })).status).toBe(200);
  expect((await nobody.post('/auth/password/forgot', { email: customer })).status).toBe(200);
  // Nothing was done about this one yet but to write it down.
  expect((await register(nobody, atOnce)).body.data).toEqual({ mail_sent: true });
  await first.end('SIGKILL');
  expect(server.mails).toEqual([]);

  server.refuseWith(null);
  const second = await startChild(dataDir, env);
  await until(
    async () => server.mails.map(({ to }) => to[0]).toSorted(),
    (seen) => seen.length >= 4,
    60_000,
  );
  await settled({ databaseUrl: database.url });
  expect(server.mails.map(({ to }) => to).toSorted()).toEqual(
    [tried, atOnce, guest, customer].toSorted().map((email) => [email]),
  );
  const again = apiClient(`${second.url}/api`, {});
  for (const email of [tried, atOnce]) {
    const verified = await again.post('/auth/email/verify', { token: tokenIn(textTo(email)[0]) });
    expect(verified.body.data, email).toEqual({ email_verified: true });
    expect((await again.post('/auth/login', { email, password })).status).toBe(200);
  }
  const reset = { token: tokenIn(textTo(customer)[0]), password: 'nine herons fold linen' };
  expect((await again.post('/auth/password/reset', reset)).status).toBe(200);
  const counts = await sql<{ accounts: string; invited: string }>(
    { databaseUrl: database.url },
    `select (select count(*) from users where email = any ($1)) as accounts,
       (select count(*) from invitations where email = $2) as invited`,
    [tried, atOnce],
    guest,
  );
  expect(counts.map(({ accounts, invited }) => [Number(accounts), Number(invited)])).toEqual([[2, 1]]);

  // What stands in a row, however it came there, makes no header of a mail.
  const odd = `Inn\r\nBcc: ${newEmail()}\r\n\r\nClick here`;
  await sql(
    { databaseUrl: database.url },
    'update organizations set name = $2 where id = $1',
    organizationId,
    odd,
  );
  await sql(
    { databaseUrl: database.url },
    'update users set first_name = $1, last_name = $1 where email = $2',
    odd,
    customer,
  );
  await settled({ databaseUrl: database.url }); // the mail about the new password is out
  server.mails.length = 0;
  const ownerAgain = apiClient(`${second.url}/api`, { token, organizationId });
  const other = newEmail();
  expect((await ownerAgain.post(invitations, { email: other, role: 'viewer' })).status).toBe(200);
  await again.post('/auth/password/forgot', { email: customer });
  await until(
    async () => server.mails.length,
    (count) => count >= 2,
  );
  expect(server.mails.map(({ to }) => to).toSorted()).toEqual([[customer], [other]].toSorted());
  for (const { text } of server.mails) {
    expect(Object.keys(headersOf(text))).not.toContain('bcc');
    expect(text.split('\r\n\r\n')[0]).not.toMatch(/^(bcc|click here)/im);
  }
  await second.end('SIGTERM');
});
