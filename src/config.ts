import { resolve } from 'node:path';

/** Everything the environment can say, parsed once. The table in docs/operations/configuration.md is compared with it. */
export interface Config {
  port: number;
  host: string;
  dataDir: string;
  /** Another PostgreSQL; null means the embedded one. */
  databaseUrl: string | null;
  databasePoolSize: number;
  /** 32 bytes in base64, where several processes share a database; null means the file in DATA_DIR. */
  secretKey: string | null;
  role: 'all' | 'api' | 'worker';
  demo: boolean;
  rateLimits: boolean;
  logLevel: string;
  /** Where customers reach the product, without a slash at the end. */
  publicUrl: string;
  mail: 'smtp' | 'database';
  /** Set with `mail: 'smtp'`. */
  smtpUrl: string;
  mailFrom: string;
  dns: 'powerdns' | 'database';
  /** PowerDNS' HTTP API and its key; set with `dns: 'powerdns'`. */
  dnsUrl: string;
  dnsApiKey: string;
  hypervisor: 'auto' | 'qemu' | 'simulator';
  /** Finished images, to share them between installations; null means inside DATA_DIR. */
  imagesDir: string | null;
  nodeName: string;
  location: string;
  bridge: string;
  network4: string;
  network6: string;
  nat: boolean;
  /** What machines that start from the network go on with; null leaves it to their user. */
  netbootUrl: string | null;
  /** Addresses besides loopback that may read /metrics. */
  metricsAllow: string[];
  /** Proxies whose X-Forwarded-For is believed. */
  trustedProxies: string[];
  /** How long an order that nobody pays keeps its reservation, in hours. */
  invoiceDueHours: number;
  /** Every response is held against its schema; for tests. */
  checkResponses: boolean;
}

interface Setting {
  name: string;
  fallback: string;
  meaning: string;
}

/** The environment, as documented. */
export const settings: Setting[] = [
  { name: 'PORT', fallback: '8080', meaning: 'Port of the API and the dashboard.' },
  { name: 'HOST', fallback: '0.0.0.0', meaning: 'Address to listen on.' },
  { name: 'DATA_DIR', fallback: './var', meaning: 'Where everything that is not in the database lives.' },
  {
    name: 'DATABASE_URL',
    fallback: '',
    meaning: 'Another PostgreSQL (15 or newer) instead of the embedded one.',
  },
  { name: 'DATABASE_POOL_SIZE', fallback: '8', meaning: 'Connections this process keeps to the database.' },
  {
    name: 'SECRET_KEY',
    fallback: '',
    meaning: '32 bytes in base64, the same for all processes; default: DATA_DIR/secret.key.',
  },
  { name: 'ROLE', fallback: 'all', meaning: '`api` or `worker` to run them apart.' },
  { name: 'DEMO', fallback: 'on', meaning: '`off` leaves an empty database empty.' },
  { name: 'RATE_LIMITS', fallback: 'on', meaning: '`off` for tests and benches.' },
  { name: 'LOG_LEVEL', fallback: 'info', meaning: '`trace`, `debug`, `info`, `warn`, `error` or `silent`.' },
  {
    name: 'PUBLIC_URL',
    fallback: '',
    meaning: 'Where customers reach the product; default http://localhost:PORT.',
  },
  {
    name: 'MAIL',
    fallback: 'auto',
    meaning: '`smtp`, `database` where staff reads mails, or `auto`: SMTP when SMTP_URL is set.',
  },
  {
    name: 'SMTP_URL',
    fallback: '',
    meaning: 'Mail server, smtp://user:password@host:port or smtps://…; needed with MAIL=smtp.',
  },
  { name: 'MAIL_FROM', fallback: 'Innkeeper <billing@localhost>', meaning: 'Sender of mails.' },
  {
    name: 'DNS',
    fallback: 'auto',
    meaning: 'Reverse DNS: `powerdns`, `database` where names stay, or `auto`: PowerDNS when DNS_URL is set.',
  },
  {
    name: 'DNS_URL',
    fallback: '',
    meaning: "PowerDNS' HTTP API, http://host:8081; needed with DNS=powerdns.",
  },
  { name: 'DNS_API_KEY', fallback: '', meaning: 'Key of that API; needed with DNS=powerdns.' },
  {
    name: 'HYPERVISOR',
    fallback: 'auto',
    meaning: '`qemu`, `simulator`, or `auto`: real machines where they can run.',
  },
  {
    name: 'IMAGES_DIR',
    fallback: '',
    meaning: 'Where finished operating-system images are kept; default: inside DATA_DIR.',
  },
  {
    name: 'NODE_NAME',
    fallback: 'node-1',
    meaning: 'Name of this machine in the fleet; it must stay the same.',
  },
  {
    name: 'LOCATION',
    fallback: 'AMS',
    meaning: 'Where this machine stands; customers choose it as location.',
  },
  {
    name: 'BRIDGE',
    fallback: 'innkeeper0',
    meaning: 'Bridge that the machines of this node are plugged into.',
  },
  { name: 'NETWORK4', fallback: '10.77.0.0/24', meaning: 'IPv4 network of the first address pool.' },
  { name: 'NETWORK6', fallback: 'fd77:0:0:77::/64', meaning: 'IPv6 network of the first address pool.' },
  { name: 'NAT', fallback: 'on', meaning: '`off` when the networks are routed to this host.' },
  {
    name: 'NETBOOT_URL',
    fallback: '',
    meaning: 'What iPXE loads in machines that start from the network; without it their user types it in.',
  },
  {
    name: 'METRICS_ALLOW',
    fallback: '',
    meaning: 'Addresses besides loopback that may read /metrics, by commas.',
  },
  { name: 'TRUSTED_PROXIES', fallback: '', meaning: 'Proxies whose X-Forwarded-For is believed, by commas.' },
  {
    name: 'INVOICE_DUE_HOURS',
    fallback: '72',
    meaning: 'How long an unpaid order keeps its reservation, and on to the end of that day (UTC).',
  },
  {
    name: 'CHECK_RESPONSES',
    fallback: 'off',
    meaning: '`on` holds every response against its schema; for tests.',
  },
];

/** A setting that cannot be understood; the message says which and what it takes. */
export class ConfigError extends Error {}

/** Reads the environment. Throws {@link ConfigError}. */
export function readConfig(env: Record<string, string | undefined>): Config {
  const text = (name: string): string => {
    const setting = settings.find((candidate) => candidate.name === name);
    return env[name] || (setting?.fallback ?? '');
  };
  const port = whole('PORT', text('PORT'), 0, 65_535);
  return {
    port,
    host: text('HOST'),
    dataDir: resolve(text('DATA_DIR')),
    databaseUrl: text('DATABASE_URL') || null,
    databasePoolSize: whole('DATABASE_POOL_SIZE', text('DATABASE_POOL_SIZE'), 2, 200),
    secretKey: secretKey(text('SECRET_KEY')),
    role: choice('ROLE', text('ROLE'), ['all', 'api', 'worker'] as const),
    demo: onOff('DEMO', text('DEMO')),
    rateLimits: onOff('RATE_LIMITS', text('RATE_LIMITS')),
    logLevel: choice('LOG_LEVEL', text('LOG_LEVEL'), [
      'trace',
      'debug',
      'info',
      'warn',
      'error',
      'silent',
    ] as const),
    publicUrl: (text('PUBLIC_URL') || `http://localhost:${port}`).replace(/\/+$/, ''),
    ...mail(text('MAIL'), text('SMTP_URL')),
    mailFrom: text('MAIL_FROM'),
    ...dns(text('DNS'), text('DNS_URL'), text('DNS_API_KEY')),
    hypervisor: choice('HYPERVISOR', text('HYPERVISOR'), ['auto', 'qemu', 'simulator'] as const),
    imagesDir: text('IMAGES_DIR') ? resolve(text('IMAGES_DIR')) : null,
    nodeName: text('NODE_NAME'),
    location: text('LOCATION'),
    bridge: text('BRIDGE'),
    network4: text('NETWORK4'),
    network6: text('NETWORK6'),
    nat: onOff('NAT', text('NAT')),
    netbootUrl: netbootUrl(text('NETBOOT_URL')),
    metricsAllow: byCommas(text('METRICS_ALLOW')),
    trustedProxies: byCommas(text('TRUSTED_PROXIES')),
    invoiceDueHours: whole('INVOICE_DUE_HOURS', text('INVOICE_DUE_HOURS'), 1, 24 * 365),
    checkResponses: onOff('CHECK_RESPONSES', text('CHECK_RESPONSES')),
  };
}

function mail(engine: string, url: string): Pick<Config, 'mail' | 'smtpUrl'> {
  const wanted = choice('MAIL', engine, ['auto', 'smtp', 'database'] as const);
  const chosen = wanted === 'auto' ? (url === '' ? 'database' : 'smtp') : wanted;
  if (chosen === 'smtp' && url === '') throw new ConfigError('MAIL is smtp, so SMTP_URL is needed too.');
  return { mail: chosen, smtpUrl: url };
}

function dns(engine: string, url: string, apiKey: string): Pick<Config, 'dns' | 'dnsUrl' | 'dnsApiKey'> {
  const wanted = choice('DNS', engine, ['auto', 'powerdns', 'database'] as const);
  const chosen = wanted === 'auto' ? (url === '' ? 'database' : 'powerdns') : wanted;
  if (chosen === 'database') return { dns: chosen, dnsUrl: '', dnsApiKey: '' };
  if (!/^https?:\/\/[^/]/.test(url))
    throw new ConfigError(`DNS_URL is "${url}"; it takes a URL such as http://127.0.0.1:8081.`);
  if (apiKey === '') throw new ConfigError('Names are kept in PowerDNS, so DNS_API_KEY is needed.');
  return { dns: chosen, dnsUrl: url, dnsApiKey: apiKey };
}

function netbootUrl(text: string): string | null {
  if (text === '' || /^(https?|tftp):\/\/[^\s/]\S*$/.test(text)) return text || null;
  throw new ConfigError(
    `NETBOOT_URL is "${text}"; it takes a URL such as http://boot.example.com/menu.ipxe.`,
  );
}

function whole(name: string, text: string, min: number, max: number): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < min || value > max) {
    throw new ConfigError(`${name} is "${text}"; it takes a whole number from ${min} to ${max}.`);
  }
  return value;
}

function secretKey(text: string): string | null {
  if (text === '') return null;
  if (Buffer.from(text, 'base64').length !== 32) {
    throw new ConfigError('SECRET_KEY takes 32 bytes in base64; make one with: openssl rand -base64 32');
  }
  return text;
}

function choice<T extends string>(name: string, text: string, allowed: readonly T[]): T {
  const found = allowed.find((value) => value === text);
  if (found === undefined)
    throw new ConfigError(`${name} is "${text}"; it takes one of ${allowed.join(', ')}.`);
  return found;
}

function onOff(name: string, text: string): boolean {
  return choice(name, text, ['on', 'off'] as const) === 'on';
}

function byCommas(text: string): string[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter(Boolean);
}
