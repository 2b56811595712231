import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newCustomer, newMember, type Person } from '../../test/people.ts';
import { startTestProduct, type TestProduct, until } from '../../test/product.ts';
import { contents, settled, sql } from '../../test/sql.ts';
import { permissionsOf, roles } from '../organizations/index.ts';
import { looksLikeKey } from './apiKeys/create.ts';
import { parsePublicKey } from './sshKeys.ts';

let product: TestProduct;
let customer: Person;
let dir: string;
beforeAll(async () => {
  product = await startTestProduct();
  customer = await newCustomer(product, { creditMinor: 1_234 });
  dir = mkdtempSync(join(tmpdir(), 'innkeeper-keys-'));
});
afterAll(async () => {
  await product.stop();
  rmSync(dir, { recursive: true, force: true });
});

const path = '/dashboard/account/ssh-keys';
let made = 0;

/** A key as OpenSSH makes it, and its fingerprint as OpenSSH prints it. */
function newKey(...options: string[]): { line: string; fingerprint: string } {
  made += 1;
  const file = join(dir, `key${made}`);
  execFileSync('ssh-keygen', ['-q', '-N', '', '-C', 'ada@laptop', '-f', file, ...options]);
  const printed = execFileSync('ssh-keygen', ['-lf', `${file}.pub`], { encoding: 'utf8' });
  return { line: readFileSync(`${file}.pub`, 'utf8'), fingerprint: printed.split(' ')[1] ?? '' };
}

function add(public_key: string, person: Person = customer, name = 'laptop') {
  return person.post(path, { name, public_key });
}

function fingerprintOf(line: string): string | null {
  try {
    return parsePublicKey(line).fingerprint;
  } catch {
    return null;
  }
}

describe('an SSH key', () => {
  it.each([
    ['ssh-ed25519', ['-t', 'ed25519']],
    ['ssh-rsa', ['-t', 'rsa', '-b', '2048']],
    ['ssh-rsa', ['-t', 'rsa', '-b', '4096']],
    ['ecdsa-sha2-nistp256', ['-t', 'ecdsa', '-b', '256']],
    ['ecdsa-sha2-nistp384', ['-t', 'ecdsa', '-b', '384']],
    ['ecdsa-sha2-nistp521', ['-t', 'ecdsa', '-b', '521']],
  ])('of type %s is taken, with the fingerprint that ssh-keygen prints: %j', async (type, options) => {
    const { line, fingerprint } = newKey(...options);
    const { status, body } = await add(line);
    expect([status, body.data.ssh_key.type, body.data.ssh_key.fingerprint]).toEqual([200, type, fingerprint]);
    const listed = (await customer.get(path)).body.data.ssh_keys;
    expect(listed).toContainEqual(body.data.ssh_key);
  });

  it('of a security key is taken too', async () => {
    const field = (bytes: Buffer) => Buffer.concat([Buffer.from([0, 0, 0, bytes.length]), bytes]);
    const type = 'sk-ssh-ed25519@openssh.com';
    const blob = [Buffer.from(type), Buffer.alloc(32, 7), Buffer.from('ssh:')].map(field);
    const line = `${type} ${Buffer.concat(blob).toString('base64')}`;
    const printed = execFileSync('ssh-keygen', ['-lf', '-'], { input: line, encoding: 'utf8' });
    const { ssh_key } = (await add(line)).body.data;
    expect(ssh_key).toMatchObject({ type, fingerprint: printed.split(' ')[1] });
    expect((await add(`${line.slice(0, -8)}AAAA`)).status).toBe(400);
  });

  it('is never taken where ssh-keygen does not read it, and shows what that prints', () => {
    const lines = [
      newKey('-t', 'ed25519').line,
      newKey('-t', 'rsa', '-b', '2048').line,
      newKey('-t', 'ecdsa').line,
    ];
    const field = (bytes: Buffer) => Buffer.concat([Buffer.from([0, 0, 0, bytes.length]), bytes]);
    const [, encoded = ''] = (lines[2] ?? '').split(' ');
    const point = Buffer.from(encoded, 'base64').subarray(-65);
    const onToken = (...fields: Buffer[]) => {
      const type = 'sk-ecdsa-sha2-nistp256@openssh.com';
      return `${type} ${Buffer.concat([Buffer.from(type), ...fields].map(field)).toString('base64')}`;
    };
    const [curve, app] = [Buffer.from('nistp256'), Buffer.from('ssh:')];
    lines.push(
      onToken(curve, point, app),
      onToken(curve, Buffer.alloc(65, 4), app),
      onToken(Buffer.from('x'), point, app),
    );
    let taken = 0;
    for (const line of lines) {
      const [type = '', key = ''] = line.split(' ');
      const blob = Buffer.from(key, 'base64');
      for (let turn = 0; turn < 12; turn += 1) {
        const changed = Buffer.from(blob);
        if (turn > 0)
          changed[(turn * 37) % blob.length] = (changed[(turn * 37) % blob.length] ?? 0) ^ (1 << (turn % 8));
        const text = `${type}\t${changed.toString('base64')}`;
        const ours = fingerprintOf(text);
        if (ours === null) continue;
        taken += 1;
        const printed = execFileSync('ssh-keygen', ['-lf', '-'], { input: text, encoding: 'utf8' });
        expect([text, printed.split(' ')[1]]).toEqual([text, ours]);
      }
    }
    expect(taken).toBeGreaterThanOrEqual(4);
    expect(fingerprintOf(lines[4] ?? '')).toBeNull();
    expect(fingerprintOf(lines[5] ?? '')).toBeNull();
  });

  it('loses its comment: what is kept is type and key alone', async () => {
    const { line } = newKey('-t', 'ed25519');
    const { id } = (await add(line)).body.data.ssh_key;
    const [row] = await sql<{ public_key: string }>(
      product,
      'select public_key from ssh_keys where id = $1',
      id,
    );
    expect(row?.public_key).toBe(line.split(' ').slice(0, 2).join(' '));
  });

  it('is in an account once, whatever its name and comment, and in another account again', async () => {
    const { line } = newKey('-t', 'ed25519');
    const at = line.split(' ').slice(0, 2).join(' ');
    expect((await add(line)).status).toBe(200);
    for (const again of [line, at, `${at} somebody else`]) {
      const { status, body } = await add(again, customer, 'other name');
      expect([status, body.code]).toEqual([409, 'duplicate_ssh_key']);
    }
    expect((await add(line, await newCustomer(product))).status).toBe(200);
  });

  it('is there once when it is added twice at once', async () => {
    const { line } = newKey('-t', 'ed25519');
    const answers = await Promise.all(Array.from({ length: 5 }, () => add(line)));
    expect(answers.map((each) => each.status).toSorted()).toEqual([200, 409, 409, 409, 409]);
  });

  it('that is none is refused, and nothing changes', async () => {
    const { line } = newKey('-t', 'ed25519');
    const [type = '', key = ''] = line.split(' ');
    const withMore = Buffer.concat([Buffer.from(key, 'base64'), Buffer.from('more')]).toString('base64');
    const short = newKey('-t', 'rsa', '-b', '1024').line;
    const bad = [
      ...['hello', '-----BEGIN OPENSSH PRIVATE KEY-----', type, key, `${type} `, `${type} not!base64`],
      `command="reboot" ${line}`,
      `no-pty,from="*" ${line}`,
      `${line.trim()}\n${line}`,
      `${type} ${key}\nssh-rsa AAAA`,
      `ssh-rsa ${key}`,
      `${type} ${key.slice(0, -8)}`,
      ...[`${type} ${key}${key}`, `${type} ${withMore}`],
      `ssh-dss ${key}`,
      short,
    ];
    await settled(product);
    const before = await contents(product);
    for (const text of bad) {
      const { status, body } = await add(text);
      expect([text, status, body.code]).toEqual([text, 400, 'invalid_ssh_key']);
    }
    expect(await contents(product)).toEqual(before);
  });

  it('that was deleted is gone, once', async () => {
    const { id } = (await add(newKey('-t', 'ed25519').line)).body.data.ssh_key;
    expect((await customer.delete(`${path}/${id}`)).body.data).toEqual({ deleted: true });
    expect((await customer.delete(`${path}/${id}`)).status).toBe(404);
    expect(JSON.stringify((await customer.get(path)).body)).not.toContain(String(id));
  });

  it("is a person's: another member of the organization neither sees nor deletes it", async () => {
    const colleague = await newMember(product, customer.organizationId, 'owner');
    const { id } = (await add(newKey('-t', 'ed25519').line)).body.data.ssh_key;
    expect((await colleague.get(path)).body.data.ssh_keys).toEqual([]);
    expect((await colleague.delete(`${path}/${id}`)).status).toBe(403);
  });

  it('is refused when a machine could not take all of them', async () => {
    const person = await newCustomer(product);
    await sql(
      product,
      `insert into ssh_keys (id, user_id, name, type, public_key, fingerprint, created_at)
       select 1000 + n, $1, 'k', 'ssh-rsa', repeat('x', 8191), 'g' || n, now() from generate_series(1, 16) n`,
      person.userId,
    );
    const { status, body } = await add(newKey('-t', 'ed25519').line, person);
    expect([status, body.code, body.message]).toEqual([409, 'too_many', expect.stringContaining('128 KiB')]);
    expect((await person.get(path)).body.data.total).toBe(16);
  });

  it('is one of a hundred at most, also of many that come at once', async () => {
    const person = await newCustomer(product);
    await sql(
      product,
      `insert into ssh_keys (id, user_id, name, type, public_key, fingerprint, created_at)
       select n, $1, 'k', 'ssh-ed25519', 'x', 'f' || n, now() from generate_series(1, 98) n`,
      person.userId,
    );
    const keys = Array.from({ length: 8 }, () => newKey('-t', 'ed25519').line);
    const answers = await Promise.all(keys.map((line) => add(line, person)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(2);
    expect(answers.filter(({ body }) => body.code === 'too_many')).toHaveLength(6);
    const list = async (query: string) => (await person.get(`${path}?${query}`)).body.data;
    const second = await list('limit=40&page=2');
    expect(second).toMatchObject({ total: 100, pages: 3, current_page: 2, entries: 40 });
    const [shown] = (await list('limit=1&page=80')).ssh_keys;
    await person.delete(`${path}/${shown.id}`); // the last that the cursor has seen
    const third = await list(`limit=40&cursor=${second.next_cursor}`);
    expect(third).toMatchObject({ entries: 20, next_cursor: null });
    expect(third.ssh_keys[0].id).toBe((await list('limit=1&page=80')).ssh_keys[0].id);
    expect((await person.get(`${path}?cursor=nonsense`)).body.code).toBe('invalid_cursor');
  });
});

describe('an API key', () => {
  it('is known for one of ours by its checksum, and a typo is not', () => {
    expect(looksLikeKey(customer.key)).toBe(true);
    for (let at = 0; at < customer.key.length; at += 1) {
      const wrong = customer.key[at] === 'x' ? 'y' : 'x';
      expect(looksLikeKey(customer.key.slice(0, at) + wrong + customer.key.slice(at + 1))).toBe(false);
    }
  });

  it('is kept as a hash: nowhere in the database does it stand whole', async () => {
    const text = JSON.stringify(await contents(product));
    expect(text).not.toContain(customer.key);
    expect(text).toContain(customer.key.slice(0, 10));
  });

  it.each([
    ['is revoked', 'update api_keys set revoked_at = $2 where user_id = $1'],
    ['has expired', 'update api_keys set expires_at = $2 where user_id = $1'],
    ['belongs to a blocked account', `update users set status = 'blocked', updated_at = $2 where id = $1`],
  ])('stops within a second once it %s', async (_, text) => {
    const person = await newCustomer(product);
    expect((await person.get('/dashboard/account')).status).toBe(200);
    await sql(product, text, person.userId, product.clock.now());
    product.clock.travel(1_000);
    expect((await person.get('/dashboard/account')).status).toBe(401);
  });

  it('of a member who left stops reaching the organization within a second', async () => {
    const member = await newMember(product, customer.organizationId, 'technical');
    expect((await member.get('/dashboard/services')).status).toBe(200);
    await sql(product, 'delete from memberships where user_id = $1', member.userId);
    product.clock.travel(1_000);
    expect((await member.get('/dashboard/services')).status).toBe(403);
  });
});

describe('the account', () => {
  it('shows who asks, with the credit of their organization and keys cut short', async () => {
    const { data } = (await product.nobody.get('/dashboard/account', { token: customer.key })).body;
    expect(data).toMatchObject({ twofa_status: false, passkeys: [] });
    expect(data.user).toMatchObject({ id: customer.userId, email: customer.email, credit: '12.34' });
    expect(data.apikeys).toHaveLength(1);
    expect(data.apikeys[0].key).toBe(`${customer.key.slice(0, 10)}…`);
    expect(JSON.stringify(data)).not.toMatch(/password|hash/i);
  });

  it('tells when it and its key were used, to the minute', async () => {
    const person = await newCustomer(product);
    const told = async () => {
      const { user, apikeys } = (await person.get('/dashboard/account')).body.data;
      return [user.lastActivity, apikeys[0].lastUsed];
    };
    const first = product.clock.now().getTime();
    const [activity, used] = await until(told, ([moment]) => moment !== null);
    expect(used).toBe(activity);
    expect(Date.parse(used) - first).toBeLessThan(10_000);
    product.clock.travel(50_000);
    await told();
    product.clock.travel(5_000);
    expect(await told()).toEqual([used, used]);
    product.clock.travel(60_000);
    const [later] = await until(told, ([moment]) => moment !== used);
    expect(Date.parse(later) - Date.parse(used)).toBeGreaterThanOrEqual(60_000);
  });

  it.each(roles)(
    'of a member with the role %s shows credit if they may read what is billed',
    async (role) => {
      const member = await newMember(product, customer.organizationId, role);
      const { user } = (await member.get('/dashboard/account')).body.data;
      expect(user.credit).toBe(permissionsOf(role).has('billing.read') ? '12.34' : '0.00');
    },
  );
});

describe('organizations', () => {
  it('are made by whoever asks, who owns them, and seen by their members alone', async () => {
    const person = await newCustomer(product);
    const made = await person.post('/dashboard/organizations', { name: 'Ünïcode & Söhne', country: 'DE' });
    const { organization } = made.body.data;
    expect(organization).toMatchObject({ name: 'Ünïcode & Söhne', role: 'owner', members_count: 1 });
    const { organizations } = (await person.get('/dashboard/organizations')).body.data;
    expect(organizations.map((each: { id: number }) => each.id)).toEqual([
      person.organizationId,
      organization.id,
    ]);
    const services = await person.get('/dashboard/services', {
      'x-organization-id': String(organization.id),
    });
    expect(services.body.data).toMatchObject({ services: [], total: 0 });
    const stranger = await customer.get('/dashboard/organizations');
    expect(JSON.stringify(stranger.body)).not.toContain(String(organization.id));
  });

  it('are fifty at most that one account founds', async () => {
    const person = await newCustomer(product);
    await sql(
      product,
      `with made as (insert into organizations (id, name, created_at)
         select n, 'Made', now() from generate_series(1, 48) n returning id)
       insert into memberships (organization_id, user_id, role, joined_at) select id, $1, 'owner', now() from made`,
      person.userId,
    );
    await newMember(product, person.organizationId, 'owner');
    const found = () => person.post('/dashboard/organizations', { name: 'One more' });
    const answers = await Promise.all([found(), found(), found()]);
    expect(answers.map((answer) => answer.status).toSorted()).toEqual([200, 409, 409]);
    expect((await found()).body.code).toBe('too_many');
    await settled(product);
    const seen: number[] = [];
    for (let cursor = ''; cursor !== 'end'; ) {
      const { data } = (await person.get(`/dashboard/organizations?limit=20${cursor}`)).body;
      expect(data).toMatchObject({ total: 50, pages: 3, entries: data.organizations.length });
      seen.push(...data.organizations.map((each: { id: number }) => each.id));
      cursor = data.next_cursor === null ? 'end' : `&cursor=${data.next_cursor}`;
    }
    expect(seen).toHaveLength(50);
    expect(new Set(seen).size).toBe(50);
    const third = (await person.get('/dashboard/organizations?limit=20&page=3')).body.data;
    expect(third).toMatchObject({ current_page: 3, entries: 10, next_cursor: null });
    expect(third.organizations.map((each: { id: number }) => each.id)).toEqual(seen.slice(40));
  });

  it('show each member the role they have', async () => {
    const viewer = await newMember(product, customer.organizationId, 'viewer');
    const [mine] = (await viewer.get('/dashboard/organizations')).body.data.organizations;
    expect(mine).toMatchObject({ id: customer.organizationId, role: 'viewer' });
    const count = await sql<{ n: number }>(
      product,
      'select count(*)::int as n from memberships where organization_id = $1',
      customer.organizationId,
    );
    expect(mine.members_count).toBe(count[0]?.n);
  });

  it.each([
    [{}],
    [{ name: '' }],
    [{ name: '   ' }],
    [{ name: 'a'.repeat(101) }],
    [{ name: 'A', country: 'de' }],
  ])('are not made of %j', async (body) => {
    const answer = await customer.post('/dashboard/organizations', body);
    expect([answer.status, answer.body.code]).toEqual([400, 'invalid_request']);
  });
});
