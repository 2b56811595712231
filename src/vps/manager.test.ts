import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { password, runningVps } from '../../test/orders.ts';
import { newCustomer } from '../../test/people.ts';
import { startTestProduct, type TestProduct, until } from '../../test/product.ts';
import { sql } from '../../test/sql.ts';
import { simulatorStore } from '../drivers/hypervisor/index.ts';

const silentGuests = new Set<string>();
const delaysMs = { start: 0 };
const store = simulatorStore();
let product: TestProduct;
let id: number;
let vps: string;

beforeAll(async () => {
  product = await startTestProduct({
    simulator: { store, delaysMs, guestIsSilent: (machine) => silentGuests.has(machine) },
  });
  ({ serviceId: id } = await runningVps(product, product.customer));
  vps = `/dashboard/service/${id}/vps`;
});
afterAll(() => product.stop());

const machine = () => store.machines.get(`vps-${id}`);

async function ended(actionId: number) {
  const answer = await until(
    () => product.customer.get(`${vps}/history/${actionId}`),
    ({ body }) => ['success', 'error'].includes(body.data?.action.status),
  );
  return answer.body.data.action;
}

async function act(path: string, body: unknown = {}) {
  const answer = await product.customer.post(`${vps}/${path}`, body);
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  return { ...answer.body.data, action: await ended(answer.body.data.action.id) };
}

describe('passwords and keys', () => {
  it('sets a password through the guest agent and shows a generated one once', async () => {
    const { action, password: generated } = await act('reset-password');
    expect(action.status).toBe('success');
    expect(generated).toHaveLength(20);
    expect(machine()?.guest?.passwordHash).toMatch(/^\$6\$/);
    const chosen = await act('reset-password', { password: 'Another-Pass-2' });
    expect(chosen.password).toBeNull();
  });

  it('refuses a weak password and changes nothing', async () => {
    const before = machine()?.guest?.passwordHash;
    const answer = await product.customer.post(`${vps}/reset-password`, { password: 'weak' });
    expect([answer.status, answer.body.code]).toEqual([400, 'weak_password']);
    expect(machine()?.guest?.passwordHash).toBe(before);
  });

  it('says what to do when the guest agent is silent', async () => {
    silentGuests.add(`vps-${id}`);
    const { action } = await act('reset-password');
    silentGuests.clear();
    expect(action).toMatchObject({ status: 'error', error: { code: 'guest_silent' } });
    expect(action.error.message).toContain('install and start qemu-guest-agent');
    expect(action.error.message).toContain('`rescue`');
    expect(action.error.message).not.toContain(`vps-${id}`);
  });

  it('replaces the keys on the running machine and lists which are installed', async () => {
    const made = await product.customer.post('/dashboard/account/ssh-keys', {
      name: 'laptop',
      public_key: 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl',
    });
    const keyId = made.body.data.ssh_key.id;
    await act('access', { ssh_key_ids: [keyId] });
    expect(machine()?.guest?.authorizedKeys).toHaveLength(1);
    const listed = await product.customer.get(`${vps}/access`);
    expect(listed.body.data.keys).toMatchObject([{ id: keyId, name: 'laptop', installed: true }]);
    const foreign = await product.other.get('/dashboard/account/ssh-keys');
    expect(foreign.body.data.ssh_keys).toEqual([]);
    const unknown = await product.customer.post(`${vps}/access`, { ssh_key_ids: [4242424242] });
    expect(unknown.status).toBe(400);
  });
});

describe('in the rescue system', () => {
  it('password and keys are refused in words, and a name waits for the machine its own system', async () => {
    await product.customer.patch(`${vps}/settings`, { rescue: true });
    const before = structuredClone(machine()?.guest);
    // It counts from the next start: until then its own system runs.
    expect((await act('reset-password')).action.status).toBe('success');
    await act('restart', { force: true });
    for (const [path, body] of [
      ['reset-password', {}],
      ['access', { ssh_key_ids: [] }],
    ] as const) {
      const answer = await product.customer.post(`${vps}/${path}`, body);
      expect([answer.status, answer.body.code]).toEqual([409, 'action_not_allowed']);
      expect(answer.body.message).toMatch(/rescue system, of which nothing stays/);
    }
    const named = await product.customer.patch(`${vps}/settings`, {
      hostname: 'rescued.example.com',
      rescue: false,
    });
    expect(named.status).toBe(200);
    // Off in the settings, and it still runs.
    expect((await product.customer.post(`${vps}/reset-password`, {})).status).toBe(409);
    const { actions } = (await product.customer.get(`${vps}/overview`)).body.data.vps;
    expect(actions.reset_password).toMatchObject({ allowed: false, code: 'action_not_allowed' });
    expect(machine()?.guest?.hostname).toBe(before?.hostname ?? null);
    await act('restart', { force: true });
    expect(machine()?.identity?.hostname).toBe('rescued.example.com');
    expect((await act('reset-password')).action.status).toBe('success');
  });
});

describe('snapshots', () => {
  it('tell the journal when the guest did not settle its file systems first', async () => {
    const told = () =>
      sql(product, `select data from journal where action = 'vps.copy.inconsistent' and subject_id = $1`, id);
    await act('snapshots', { name: 'settled' });
    expect(await told()).toEqual([]);
    silentGuests.add(`vps-${id}`);
    await act('snapshots', { name: 'unsettled' });
    silentGuests.clear();
    expect(await told()).toEqual([{ data: { name: 'unsettled' } }]);
    for (const name of ['settled', 'unsettled']) {
      const gone = await product.customer.delete(`${vps}/snapshots/${name}`);
      await ended(gone.body.data.action.id);
    }
  });

  it('creates, lists, restores and deletes them by name', async () => {
    const made = await act('snapshots', { name: 'before-upgrade', description: "it's <b>mine</b>" });
    expect(made.action.status).toBe('success');
    const listed = await product.customer.get(`${vps}/snapshots`);
    expect(listed.body.data.snapshots).toMatchObject([
      { name: 'before-upgrade', state: 'ready', parent: null },
    ]);

    expect((await act('snapshots/before-upgrade/restore')).action.status).toBe('success');
    const overview = await product.customer.get(`${vps}/overview`);
    expect(overview.body.data.vps.state).toBe('running');

    const gone = await product.customer.delete(`${vps}/snapshots/before-upgrade`);
    await ended(gone.body.data.action.id);
    expect((await product.customer.get(`${vps}/snapshots`)).body.data.snapshots).toEqual([]);
  });

  it('refuses a name twice, an unknown one, a hostile one and one too many', async () => {
    for (let n = 1; n <= 5; n += 1) await act('snapshots', { name: `snap${n}` });
    const twice = await product.customer.post(`${vps}/snapshots`, { name: 'snap1' });
    expect([twice.status, twice.body.code]).toEqual([409, 'conflict']);
    const many = await product.customer.post(`${vps}/snapshots`, { name: 'snap6' });
    expect([many.status, many.body.code]).toEqual([409, 'too_many']);
    const unknown = await product.customer.post(`${vps}/snapshots/nothing/restore`);
    expect(unknown.status).toBe(404);
    for (const name of ['a/b', '..', '1abc', 'x'.repeat(41), 'a%2Fb', "a'; drop table"]) {
      const hostile = await product.customer.post(`${vps}/snapshots`, { name });
      expect(hostile.status, name).toBe(400);
    }
    const encoded = await product.customer.delete(`${vps}/snapshots/a%2Fb`);
    expect(encoded.status).toBe(400);
    for (let n = 1; n <= 5; n += 1) {
      const gone = await product.customer.delete(`${vps}/snapshots/snap${n}`);
      await ended(gone.body.data.action.id);
    }
  });
});

describe('reinstall', () => {
  it('puts a new system on the machine with its keys, and leaves no secret behind', async () => {
    const { action } = await act('reinstall', { os: 'tiny', password, hostname: 'fresh.example.com' });
    expect(action.status).toBe('success');
    const overview = await product.customer.get(`${vps}/overview`);
    expect(overview.body.data.vps).toMatchObject({ state: 'running', hostname: 'fresh.example.com' });
    expect(machine()?.identity?.passwordHash).toBeNull();
  });

  it('is refused while the machine is protected, and the overview says why', async () => {
    await product.customer.patch(`${vps}/settings`, { protection: { reinstall: true } });
    const answer = await product.customer.post(`${vps}/reinstall`, { os: 'tiny', password });
    expect([answer.status, answer.body.code]).toEqual([409, 'action_not_allowed']);
    const overview = await product.customer.get(`${vps}/overview`);
    expect(overview.body.data.vps.actions.reinstall).toEqual({
      allowed: false,
      reason: answer.body.message,
      code: 'action_not_allowed',
    });
    await product.customer.patch(`${vps}/settings`, { protection: { reinstall: false } });
  });

  it('protected from being deleted, it is not cancelled, at once or later', async () => {
    const service = vps.replace('/dashboard/service/', '/dashboard/services/').replace(/\/vps$/, '/cancel');
    await product.customer.patch(`${vps}/settings`, { protection: { delete: true } });
    for (const type of ['immediate', 'end_of_period']) {
      const answer = await product.customer.post(service, { type });
      expect([answer.status, answer.body.code]).toEqual([409, 'conflict']);
      expect(answer.body.message).toContain('turn protection.delete off');
      expect((await product.customer.get(service)).body.data.reason).toBe(answer.body.message);
    }
    expect(machine()).toBeDefined();
    await product.customer.patch(`${vps}/settings`, { protection: { delete: false } });
    const { immediate, reason } = (await product.customer.get(service)).body.data;
    expect([reason, immediate]).toEqual([null, expect.any(Object)]);
    expect((await product.customer.post(service, { type: 'immediate', dry_run: true })).status).toBe(200);
  });

  it('refuses an unknown system, too much user data and a bad hostname', async () => {
    const unknown = await product.customer.post(`${vps}/reinstall`, { os: 'windows-95', password });
    expect(unknown.status).toBe(404);
    expect(unknown.body.message).toMatch(/called windows-95; there are (.+, )?tiny(,|$)/);
    const large = await product.customer.post(`${vps}/reinstall`, {
      os: 'tiny',
      user_data: 'x'.repeat(65_537),
    });
    expect(large.status).toBe(400);
    const hostile = await product.customer.post(`${vps}/reinstall`, {
      os: 'tiny',
      password,
      hostname: 'a;reboot',
    });
    expect(hostile.body.code).toBe('invalid_domain');
  });
});

describe('a path in the plural', () => {
  it('is answered with the one that was meant, the id kept', async () => {
    for (const rest of ['overview', 'history/7', 'start']) {
      const { status, body } = await product.customer.get(`/dashboard/services/${id}/vps/${rest}`);
      expect([status, body.code]).toEqual([404, 'route_not_found']);
      expect(body.message).toContain(`did you mean /api${vps}/${rest}?`);
    }
  });
});

describe('settings', () => {
  it('changes any part, keeps the rest, and tells the guest its new name', async () => {
    const before = (await product.customer.get(`${vps}/settings`)).body.data.settings;
    expect(before.nameservers).toEqual(['9.9.9.9', '149.112.112.112', '2620:fe::fe']);
    const answer = await product.customer.patch(`${vps}/settings`, {
      hostname: 'Renamed.example.com',
      auto_backup: { enabled: true },
      nameservers: ['1.1.1.1', '2606:4700:4700::1111'],
    });
    expect(answer.body.data.settings).toEqual({
      ...before,
      hostname: 'renamed.example.com',
      auto_backup: { ...before.auto_backup, enabled: true },
      nameservers: ['1.1.1.1', '2606:4700:4700::1111'],
    });
    await until(
      async () => machine()?.guest?.hostname,
      (name) => name === 'renamed.example.com',
    );
    const [rename] = (await product.customer.get(`${vps}/history?limit=1`)).body.data.actions;
    await ended(rename.id);
  });

  it('gives a machine that is down its name and its name servers at the next start', async () => {
    await act('stop', { force: true });
    const change = { hostname: 'Asleep.example.com', nameservers: ['9.9.9.9'] };
    expect((await product.customer.patch(`${vps}/settings`, change)).status).toBe(200);
    await act('start');
    expect(machine()?.identity).toEqual({
      hostname: 'asleep.example.com',
      nameservers: ['9.9.9.9'],
      passwordHash: null,
      authorizedKeys: [],
      userData: null,
    });
  });

  it('brings a name that the guest did not take at the next start, and says so', async () => {
    silentGuests.add(`vps-${id}`);
    await product.customer.patch(`${vps}/settings`, { hostname: 'later.example.com' });
    const [rename] = (await product.customer.get(`${vps}/history?limit=1`)).body.data.actions;
    const { error } = await ended(rename.id);
    silentGuests.clear();
    expect(error).toMatchObject({ code: 'guest_silent', message: expect.stringContaining('next start') });
    await act('restart');
    expect(machine()?.identity?.hostname).toBe('later.example.com');
  });

  it('takes no new name while an action is at work, whatever state it shows', async () => {
    await act('stop', { force: true });
    delaysMs.start = 1_000;
    const started = await product.customer.post(`${vps}/start`, {});
    const answer = await product.customer.patch(`${vps}/settings`, { hostname: 'between.example.com' });
    expect([answer.status, answer.body.code]).toEqual([409, 'locked']);
    delaysMs.start = 0;
    await ended(started.body.data.action.id);
  });

  it('starts from what its boot order says, and from the rescue system for as long as that is on', async () => {
    const changes = [{ boot_order: 'network' }, { rescue: true }, { rescue: false }, { boot_order: 'disk' }];
    const started: unknown[] = [];
    for (const change of changes) {
      await product.customer.patch(`${vps}/settings`, change);
      expect((await act('restart', { force: true })).action.error).toBeNull();
      started.push(machine()?.spec?.boot);
    }
    expect(started).toEqual(['network', 'rescue', 'network', 'disk']);
  });

  it('refuses what is no address and no hostname', async () => {
    const address = await product.customer.patch(`${vps}/settings`, { nameservers: ['dns.example.com'] });
    expect(address.body.details).toEqual([{ field: 'nameservers[0]', message: 'must be an IP address' }]);
    const hostname = await product.customer.patch(`${vps}/settings`, { hostname: '-x' });
    expect(hostname.body.code).toBe('invalid_domain');
    const long = await product.customer.patch(`${vps}/settings`, { hostname: `${'a.'.repeat(32)}a` });
    expect(long.status, 'longer than a guest can be called').toBe(400);
  });

  it.each(['fe80::1%eth0', '192.168.1', '127.1', '1'])(
    'refuses %s, which only looks like one',
    async (text) => {
      const answer = await product.customer.patch(`${vps}/settings`, { nameservers: ['1.1.1.1', text] });
      expect([answer.status, answer.body.details?.[0]?.field]).toEqual([400, 'nameservers[1]']);
    },
  );

  it('keeps a limited number of notifications, however they arrive', async () => {
    const named = (prefix: string, count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, n) => [prefix + 'x'.repeat(n), true]));
    const change = (notifications: object) => product.customer.patch(`${vps}/settings`, { notifications });
    expect((await change(named('a', 20))).status).toBe(200);
    expect((await change({ a: false })).status).toBe(200);
    const answer = await change({ one_more: true });
    expect([answer.status, answer.body.details?.[0]?.field]).toEqual([400, 'notifications']);
  });

  it('makes nightly backups and keeps as many as wanted', async () => {
    await until(
      () => product.customer.get(`${vps}/overview`),
      ({ body }) => body.data.vps.locked === false,
    );
    await product.customer.patch(`${vps}/settings`, { auto_backup: { enabled: true, hour: 0, keep: 2 } });
    const backups = async () => {
      const { body } = await product.customer.get(`${vps}/snapshots`);
      return body.data.snapshots.filter(
        (each: { kind: string; state: string }) => each.kind === 'backup' && each.state === 'ready',
      ).length;
    };
    const idle = () =>
      until(
        () => product.customer.get(`${vps}/overview`),
        ({ body }) => body.data.vps.locked === false,
      );
    for (let night = 1; night <= 4; night += 1) {
      product.clock.travel(24 * 3_600_000);
      for (let turn = 0; turn < 3; turn += 1) {
        await product.periodic('vps.backups');
        await idle();
      }
      expect(await backups()).toBe(Math.min(night, 2));
    }
    await product.customer.patch(`${vps}/settings`, { auto_backup: { enabled: false } });
  });
});

describe('an upgrade', () => {
  it('reaches the machine once it is paid, and stands in its history', async () => {
    await until(
      () => product.customer.get(`${vps}/overview`),
      ({ body }) => body.data.vps.locked === false,
    );
    const answer = await product.customer.post(`/dashboard/services/${id}/upgrade-vps`, {
      option1: 2,
      option2: 20,
    });
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
    const { invoice_id } = answer.body.data;
    await product.customer.post(`/dashboard/invoices/${invoice_id}/pay`, { method: 'credit' });
    const overview = await until(
      () => product.customer.get(`${vps}/overview`),
      ({ body }) => body.data.vps.resources.memory_mb === 2048 && body.data.vps.locked === false,
    );
    expect(overview.body.data.vps).toMatchObject({ state: 'running', resources: { disk_gb: 20 } });
    expect(machine()?.spec).toMatchObject({ memoryMib: 2048, diskGib: 20 });
    const [newest] = (await product.customer.get(`${vps}/history?limit=1`)).body.data.actions;
    expect(newest).toMatchObject({ command: 'resize', status: 'success', initiator: { type: 'system' } });
  });
});

describe('reverse DNS', () => {
  it('sets and clears the name of an address', async () => {
    const [ip] = (await product.customer.get(`${vps}/ips`)).body.data.ips;
    const set = await product.customer.patch(`${vps}/ips`, {
      address: ip.address,
      dns_name: 'Web1.example.com',
    });
    expect(set.body.data.ip.dns_name).toBe('web1.example.com');
    const cleared = await product.customer.patch(`${vps}/ips`, { address: ip.address, dns_name: null });
    expect(cleared.body.data.ip.dns_name).toBeNull();
  });

  it('knows an IPv6 address however it is written', async () => {
    const customer = await newCustomer(product, { creditMinor: 10_000 });
    const { serviceId } = await runningVps(product, customer, { option5: 1 });
    const path = `/dashboard/service/${serviceId}/vps/ips`;
    const ips: { address: string; family: number }[] = (await customer.get(path)).body.data.ips;
    const address = ips.find((ip) => ip.family === 6)?.address ?? '';
    const set = await customer.patch(path, { address: address.toUpperCase(), dns_name: 'web6.example.com' });
    expect(set.body.data?.ip).toMatchObject({ address, dns_name: 'web6.example.com' });
  });

  it('refuses addresses of others and names that are none', async () => {
    const other = await product.customer.patch(`${vps}/ips`, {
      address: '10.77.0.99',
      dns_name: 'a.example.com',
    });
    expect(other.status).toBe(404);
    for (const dns_name of ['a b', "x'--", 'a..b', '-a.example.com']) {
      const [ip] = (await product.customer.get(`${vps}/ips`)).body.data.ips;
      const bad = await product.customer.patch(`${vps}/ips`, { address: ip.address, dns_name });
      expect([bad.status, bad.body.code], dns_name).toEqual([400, 'invalid_domain']);
    }
  });
});

describe('charts', () => {
  it('are empty for every period before there are samples, and refuse others', async () => {
    for (const period of ['hour', 'day', 'week', 'month', 'year']) {
      const answer = await product.customer.get(`${vps}/charts?period=${period}`);
      expect(answer.status).toBe(200);
      expect(Array.isArray(answer.body.data.points)).toBe(true);
    }
    expect((await product.customer.get(`${vps}/charts?period=decade`)).status).toBe(400);
  });
});
