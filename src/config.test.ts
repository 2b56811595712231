import { describe, expect, it } from 'vitest';
import { ConfigError, readConfig } from './config.ts';

describe('a server in front that says who mails are from', () => {
  const env = { MAIL_IN: 'lmtp', MAIL_IN_ADDRESS: 'a@in.example.com', MAIL_IN_AUTHSERV: 'mx.example.com' };
  it('is believed where nobody else reaches the listener', () => {
    expect(() => readConfig({ ...env, MAIL_IN_HOST: '0.0.0.0' })).toThrow(/MAIL_IN_FROM/);
    expect(readConfig(env).mailInAuthserv).toBe('mx.example.com');
    const from = { MAIL_IN_HOST: '0.0.0.0', MAIL_IN_FROM: '192.0.2.1, 10.0.0.0/8' };
    expect(readConfig({ ...env, ...from }).mailInFrom).toEqual(['192.0.2.1', '10.0.0.0/8']);
  });
});

describe('a host that runs no machines', () => {
  it('is a worker that filters, or an API', () => {
    const none = { HYPERVISOR: 'none' };
    expect(() => readConfig(none)).toThrow(/ROLE has to be worker/);
    expect(() => readConfig({ ...none, ROLE: 'worker', EDGE: 'none' })).toThrow(/EDGE cannot be none/);
    expect(readConfig({ ...none, ROLE: 'worker' })).toMatchObject({ hypervisor: 'none', edge: 'auto' });
    expect(readConfig({ ...none, ROLE: 'api', EDGE: 'none' }).hypervisor).toBe('none');
  });

  it('serves a network of servers only with a worker, and with addresses to give out', () => {
    const rack = { RACK_INTERFACE: 'eth1', RACK_ADDRESSES: '10.78.0.100-10.78.0.199' };
    expect(readConfig({}).rack).toBeNull();
    expect(readConfig(rack).rack).toEqual({
      ...{ interface: 'eth1', from: '10.78.0.100', to: '10.78.0.199', port: 8070 },
    });
    expect(() => readConfig({ ...rack, ROLE: 'api' })).toThrow(/ROLE cannot be api/);
    expect(() => readConfig({ RACK_INTERFACE: 'eth1' })).toThrow(/RACK_ADDRESSES is needed/);
    for (const wrong of [
      '10.78.0.199-10.78.0.100',
      '10.78.0.100',
      'fd00::1-fd00::2',
      '10.78.0.100-10.78.0.x',
    ])
      expect(() => readConfig({ ...rack, RACK_ADDRESSES: wrong })).toThrow(/RACK_ADDRESSES is/);
  });
});

describe('the demonstration’s rack', () => {
  it('is there, be machines real or simulated, in a demonstration that is one process and has no other', () => {
    const rack = { DEMO_RACK: '2', HYPERVISOR: 'simulator' };
    expect(readConfig({}).demoRack).toBe(0);
    expect(readConfig(rack).demoRack).toBe(2);
    expect(readConfig({ DEMO_RACK: '2' }).demoRack).toBe(2);
    for (const [change, why] of [
      [{ DEMO: 'off' }, /DEMO has to be on/],
      [{ ROLE: 'worker' }, /ROLE all/],
      [{ RACK_INTERFACE: 'eth1', RACK_ADDRESSES: '10.78.0.100-10.78.0.199' }, /RACK_INTERFACE cannot be/],
      [{ DEMO_RACK: '21' }, /from 0 to 20/],
    ] as const)
      expect(() => readConfig({ ...rack, ...change })).toThrow(why);
  });
});

describe('a setting that cannot be understood', () => {
  it.each([
    ['PORT', '80a', 'a whole number from 0 to 65535'],
    ['PORT', '0x50', 'a whole number'],
    ['HOST', 'a b', 'an address'],
    ['WORKER_PORT', '70000', 'a whole number from 0 to 65535'],
    ['WORKER_HOST', 'a b', 'an address'],
    ['DATABASE_URL', 'localhost:5432', 'a URL such as postgres://'],
    ['DATABASE_URL', 'mysql://root@db/innkeeper', 'a URL such as postgres://'],
    ['SECRET_KEY', 'short', '32 bytes in base64'],
    ['ROLE', 'both', 'one of all, api, worker'],
    ['PUBLIC_URL', 'panel.example.com', 'a URL without a path'],
    ['PUBLIC_URL', 'https://example.com/panel', 'a URL without a path'],
    ['SMTP_URL', 'mail.example.com', 'a URL such as smtp://'],
    ['MAIL_FROM', 'Example Hosting', 'a sender'],
    ['MAIL_FROM', 'a@b.c\r\nBcc: d@e.f', 'a sender'],
    ['LOG_LEVEL', 'loud', 'one of trace'],
    ['LOG_FORMAT', 'xml', 'one of auto, json, text'],
    ['NODE_NAME', 'node 1', 'letters'],
    ['LOCATION', '', 'AMS'],
    ['HYPERVISOR', 'vmware', 'one of auto, qemu, simulator, none'],
    ['BRIDGE', 'a-bridge-with-a-long-name', 'at most 15 characters'],
    ['NETWORK4', '10.77.0.0', 'an IPv4 network such as 10.77.0.0/24'],
    ['NETWORK4', '10.77.0.0/33', 'an IPv4 network'],
    ['NETWORK6', '10.77.0.0/24', 'an IPv6 network'],
    ['METRICS_ALLOW', '10.0.0.1,prometheus', 'addresses and networks by commas'],
    ['TRUSTED_PROXIES', '10.0.0.0/40', 'addresses and networks by commas'],
    ['NAT', 'yes', 'one of on, off'],
    ['INVOICE_DUE_HOURS', '0', 'a whole number from 1'],
    ['DNS_URL', '127.0.0.1:8081', 'a URL such as http://127.0.0.1:8081'],
    ['NETBOOT_URL', 'ftp://x', 'a URL such as'],
    ['DISK_IOPS', 'fast', 'a whole number from 0'],
    ['DISK_MB_PER_SECOND', '-1', 'a whole number from 0'],
    ['GUEST_NETWORKS', '10.0.0.0/33', 'addresses and networks'],
    ['NAMESERVERS', 'dns.example.com', '1 to 3 addresses by commas'],
    ['NAMESERVERS', 'fe80::53%eth0', '1 to 3 addresses by commas'],
    ['NAMESERVERS', '192.0.2.0/24', '1 to 3 addresses by commas'],
    ['NAMESERVERS', '192.0.2.1,192.0.2.2,192.0.2.3,192.0.2.4', '1 to 3 addresses by commas'],
    ['NAMESERVERS', ',', '1 to 3 addresses by commas'],
    ['GUEST_PORTS', 'tcp/80;drop', 'protocols and ports'],
    ['GUEST_PORTS', 'tcp/80,udp/65536', 'protocols and ports'],
    ['GUEST_PORTS', 'tcp/0', 'protocols and ports'],
    ['GUEST_CONNECTIONS', 'many', 'a whole number from 0'],
  ])('%s=%s is named, with what it takes', (name, text, takes) => {
    if (text === '') return expect(readConfig({ [name]: text }).location).toBe(takes); // empty is the default
    expect(() => readConfig({ [name]: text })).toThrow(ConfigError);
    expect(() => readConfig({ [name]: text })).toThrow(name);
    expect(() => readConfig({ [name]: text })).toThrow(takes);
  });

  it.each([
    [{}, ['MAIL_FROM', 'PUBLIC_URL']],
    [{ PUBLIC_URL: 'https://panel.example.com' }, ['MAIL_FROM']],
    [{ PUBLIC_URL: 'https://panel.example.com', MAIL_FROM: 'a@example.com' }, []],
  ])('of a mail server on another host is what its mails lack, beside %j', (env, lacking) => {
    const server = { SMTP_URL: 'smtp://mail.example.com:587' };
    expect(readConfig({ ...server, ...env }).mailLacks).toEqual(lacking);
    expect(readConfig({ ...server, ...env, MAIL: 'database' }).mailLacks).toEqual([]);
    expect(readConfig({ SMTP_URL: 'smtp://127.0.0.1:25', ...env }).mailLacks).toEqual([]);
  });

  it('is told without the password in it', () => {
    expect(() => readConfig({ DATABASE_URL: 'mysql://root:s3cret@db/x' })).toThrow(/^(?!.*s3cret)/);
  });
});

it.each([
  'postgres://innkeeper:pass@db.example.com:5432/innkeeper',
  'postgres://innkeeper@/innkeeper?host=%2Frun%2Fpg',
  'postgresql:///innkeeper',
])('DATABASE_URL=%s is understood', (text) => {
  expect(readConfig({ DATABASE_URL: text }).databaseUrl).toBe(text);
});
