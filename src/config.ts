import { resolve } from 'node:path';
import {
  addresses,
  ConfigError,
  choice,
  hosts,
  matching,
  network,
  onOff,
  origin,
  range4,
  secretKey,
  url,
  whole,
} from './configValues.ts';

export { ConfigError };

/** Those who take money for us, by the names that payments of theirs have on the wire. */
export const paymentProviders = ['stripe'] as const;
export type PaymentProvider = (typeof paymentProviders)[number];

/** Everything the environment can say, parsed once. The table in docs/operations/configuration.md is compared with it. */
export interface Config {
  port: number;
  host: string;
  dataDir: string;
  /** Where documents and attachments are kept; default: a folder of `dataDir`. */
  filesDir: string;
  /** Storage that speaks S3 and keeps them instead; null: the folder does. */
  s3: { url: string; region: string; bucket: string; accessKeyId: string; secretAccessKey: string } | null;
  /** Another PostgreSQL; null means the embedded one. */
  databaseUrl: string | null;
  /** The role that owns its tables and changes them, where `databaseUrl` names another; null: the same. */
  databaseOwnerUrl: string | null;
  /** The same as a role that may only clear the journal; null: the embedded one's, or none. */
  databaseRetentionUrl: string | null;
  databasePoolSize: number;
  /** How long a statement may take. */
  databaseTimeoutS: number;
  /** 32 bytes in base64, where several processes share a database; null means the file in DATA_DIR. */
  secretKey: string | null;
  role: 'all' | 'api' | 'worker';
  /** Where a process with `role: 'worker'` answers whoever runs it. */
  workerPort: number;
  workerHost: string;
  /** Where other processes of this installation reach this one; null: at its host and port. */
  processUrl: string | null;
  demo: boolean;
  /** How many servers the demonstration has in a rack of its own. */
  demoRack: number;
  /** Whether the dashboard is served at `/`. */
  dashboard: boolean;
  rateLimits: boolean;
  /** Where several processes count limits together; null: each counts by itself. */
  valkeyUrl: string | null;
  /** When a session ends: unused for so long, and in any case. */
  sessions: { idleHours: number; longestHours: number };
  logLevel: string;
  /** `auto` is text on a terminal and JSON elsewhere. */
  logFormat: 'auto' | 'json' | 'text';
  /** Where customers reach the product, without a slash at the end. */
  publicUrl: string;
  mail: 'smtp' | 'database';
  /** Set with `mail: 'smtp'`. */
  smtpUrl: string;
  /** Settings without which mails to another host are from nobody and lead nowhere. */
  mailLacks: readonly string[];
  mailFrom: string;
  mailIn: 'none' | 'smtp' | 'lmtp' | 'imap';
  /** Where `smtp` and `lmtp` listen, and with which certificate; its files, null without STARTTLS. */
  mailInHost: string;
  mailInPort: number;
  mailInTls: { certFile: string; keyFile: string } | null;
  /** Set with `mailIn: 'imap'`. */
  mailInUrl: string;
  mailInFolder: string;
  /** Where mails come in; each person and ticket has an address of their own, with a + in front of the @. */
  mailInAddress: string | null;
  /** Whose Authentication-Results are believed; null: nobody's. */
  mailInAuthserv: string | null;
  /** Who may bring mails; empty: everybody. */
  mailInFrom: string[];
  mailInBytesPerDay: number;
  /** Where the provider's own texts and layout of mails are; null: there are none. */
  textsDir: string | null;
  /** Null: the accounts of administrators and operators; `off`: nobody. */
  staffEmail: string | null;
  dns: 'powerdns' | 'database';
  /** PowerDNS' HTTP API and its key; set with `dns: 'powerdns'`. */
  dnsUrl: string;
  dnsApiKey: string;
  payments: PaymentProvider | 'none';
  /** Set with `payments: 'stripe'`; the URL is null for Stripe itself. */
  stripeSecretKey: string;
  stripeWebhookSecret: string;
  stripeApiUrl: string | null;
  /** Who is asked whether a VAT id is valid. */
  vat: 'vies' | 'none';
  vatUrl: string;
  /** `none`: this host holds no machines and filters for those of other nodes. */
  hypervisor: 'auto' | 'qemu' | 'simulator' | 'none';
  /** What filters packets before machines. */
  edge: 'auto' | 'nftables' | 'memory' | 'none';
  /** Where a gobgpd listens that speaks to routers in front; null: there are none. */
  gobgpd: string | null;
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
  /** The network that servers start from, which this process serves; null: none. `from` and `to` are the addresses that they get there. */
  rack: { interface: string; from: string; to: string; port: number } | null;
  /** Networks (CIDR) whose servers are enrolled although their BMC lets in without a password: of tests, and of the demonstration's rack. */
  insecureBmcs: string[];
  /** What the disks of one machine do at most; 0: no limit. */
  diskLimits: { iops: number; mbPerSecond: number };
  guestNetworks: string[];
  /** Whom new machines and servers ask for names: addresses of either family, three at most. */
  nameservers: string[];
  guestPorts: string[];
  /** To one guest at a time; null: by the size of the host's table. */
  guestConnections: number | null;
  /** How long entries of the journal are kept; null: for ever. */
  journalDays: number | null;
  /** How many streams of events one person may have open at one process. */
  eventStreamsPerPerson: number;
  /** Networks of the provider's own that webhooks may be sent to, over plain HTTP and any port too. */
  clusterAllow: string[];
  webhookAllow: string[];
  /** Files beside a message of a ticket: how many, how long each, and how much an organization may send within a day. */
  attachments: { most: number; bytes: number; bytesPerDay: number };
  /** Addresses besides loopback that may read /metrics. */
  metricsAllow: string[];
  /** Proxies whose X-Forwarded-For is believed. */
  trustedProxies: string[];
  /** What gives an invoice its number: its payment, or that it is issued. */
  invoiceNumbering: 'payment' | 'issue';
  /** In which they tell the caller's country, in small letters; null: they do not. */
  countryHeader: string | null;
  /** How long an order that nobody pays keeps its reservation, in hours. */
  invoiceDueHours: number;
  /** What an organization may have reserved and not paid; less while it has never paid an invoice in full. */
  unpaid: { known: Unpaid; fresh: Unpaid };
  /** Every response is held against its schema; for tests. */
  checkResponses: boolean;
}

interface Unpaid {
  orders: number;
  addresses: number;
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
    name: 'FILES_DIR',
    fallback: '',
    meaning:
      'Where documents that were issued, attachments, mails that came in and pictures of the brand are kept, the same for all processes; default: inside DATA_DIR.',
  },
  {
    name: 'FILES',
    fallback: 'auto',
    meaning: 'What keeps them: `folder`, `s3`, or `auto`: S3 when S3_URL is set. All processes alike.',
  },
  {
    name: 'S3_URL',
    fallback: '',
    meaning: 'Storage that speaks S3, https://s3.example.com; needed with FILES=s3.',
  },
  { name: 'S3_REGION', fallback: 'us-east-1', meaning: 'Its region; most storage but Amazon’s takes any.' },
  {
    name: 'S3_BUCKET',
    fallback: '',
    meaning: 'Bucket in it, which is there and nobody else’s; needed with FILES=s3.',
  },
  {
    name: 'S3_ACCESS_KEY_ID',
    fallback: '',
    meaning: 'Key that reads, writes and deletes in it; needed with FILES=s3.',
  },
  { name: 'S3_SECRET_ACCESS_KEY', fallback: '', meaning: 'Secret of that key; needed with FILES=s3.' },
  {
    name: 'DATABASE_URL',
    fallback: '',
    meaning: 'Another PostgreSQL (15 or newer) instead of the embedded one.',
  },
  {
    name: 'DATABASE_OWNER_URL',
    fallback: '',
    meaning:
      'The same database as the role that owns its tables; then DATABASE_URL may only add to the ledger.',
  },
  {
    name: 'DATABASE_RETENTION_URL',
    fallback: '',
    meaning:
      'The same database as a role of its own, by which the journal is cleared; needed for JOURNAL_DAYS.',
  },
  { name: 'DATABASE_POOL_SIZE', fallback: '8', meaning: 'Connections this process keeps to the database.' },
  {
    name: 'DATABASE_TIMEOUT',
    fallback: '30',
    meaning:
      'Seconds that a statement may take. 5 s later its connection counts as lost, and its request answers 503.',
  },
  {
    name: 'SECRET_KEY',
    fallback: '',
    meaning: '32 bytes in base64, the same for all processes; default: DATA_DIR/secret.key.',
  },
  { name: 'ROLE', fallback: 'all', meaning: '`api` or `worker` to run them apart.' },
  {
    name: 'WORKER_PORT',
    fallback: '8090',
    meaning: 'Port on which ROLE=worker answers /livez, /readyz and /metrics.',
  },
  { name: 'WORKER_HOST', fallback: '127.0.0.1', meaning: 'Address for the same.' },
  {
    name: 'PROCESS_URL',
    fallback: '',
    meaning:
      'Where other processes of the installation reach this one, http://10.0.0.5:8080; default: HOST and PORT (of a worker WORKER_HOST and WORKER_PORT), or the host’s name where that is every address.',
  },
  { name: 'DEMO', fallback: 'on', meaning: '`off` leaves an empty database empty.' },
  {
    name: 'DEMO_RACK',
    fallback: '0',
    meaning:
      'So many servers the demonstration has in a rack of its own, which are enrolled and on sale by themselves: QEMU with BMCs, or simulated ones with HYPERVISOR=simulator; see [servers.md](servers.md#trying-it-without-a-rack).',
  },
  { name: 'DASHBOARD', fallback: 'on', meaning: '`off` serves the API alone.' },
  { name: 'RATE_LIMITS', fallback: 'on', meaning: '`off` for tests and benches.' },
  {
    name: 'VALKEY_URL',
    fallback: '',
    meaning:
      'Valkey or Redis, in which several API processes count limits together, valkey://user:password@host:6379/0 or valkeys://…; without it each counts by itself.',
  },
  {
    name: 'SESSION_IDLE_HOURS',
    fallback: '168',
    meaning: 'Hours after which a session ends that nobody uses.',
  },
  {
    name: 'SESSION_LONGEST_HOURS',
    fallback: '720',
    meaning: 'Hours after which a session ends however much it is used.',
  },
  { name: 'LOG_LEVEL', fallback: 'info', meaning: '`trace`, `debug`, `info`, `warn`, `error` or `silent`.' },
  {
    name: 'LOG_FORMAT',
    fallback: 'auto',
    meaning: '`json`, `text` for people, or `auto`: text on a terminal.',
  },
  {
    name: 'PUBLIC_URL',
    fallback: '',
    meaning:
      'Where customers reach the product; default http://localhost:PORT. Needed with a mail server on another host.',
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
  {
    name: 'MAIL_FROM',
    fallback: 'Innkeeper <billing@localhost>',
    meaning: 'Sender of mails; set it with a mail server on another host.',
  },
  {
    name: 'MAIL_IN',
    fallback: 'none',
    meaning:
      'How mails come in: `smtp` or `lmtp` listen for them, `imap` fetches them out of a mailbox; needs MAIL_IN_ADDRESS.',
  },
  {
    name: 'MAIL_IN_HOST',
    fallback: '127.0.0.1',
    meaning: 'Address to listen on with MAIL_IN=smtp or lmtp.',
  },
  { name: 'MAIL_IN_PORT', fallback: '2525', meaning: 'Port for the same.' },
  {
    name: 'MAIL_IN_CERTIFICATE',
    fallback: '',
    meaning: 'File with the certificate (PEM) for the same; with it STARTTLS is offered.',
  },
  { name: 'MAIL_IN_KEY', fallback: '', meaning: 'File with its key (PEM).' },
  {
    name: 'MAIL_IN_URL',
    fallback: '',
    meaning: 'Mailbox, imaps://user:password@host:993/INBOX or imap://…; needed with MAIL_IN=imap.',
  },
  {
    name: 'MAIL_IN_FOLDER',
    fallback: 'Innkeeper',
    meaning: 'Folder of that mailbox into which mails go once they are taken.',
  },
  {
    name: 'MAIL_IN_ADDRESS',
    fallback: '',
    meaning:
      'Where mails come in, answers@in.example.com. Whoever is mailed about a ticket answers to an address of their own, answers+…@in.example.com; without it, to MAIL_FROM.',
  },
  {
    name: 'MAIL_IN_AUTHSERV',
    fallback: '',
    meaning:
      'Mail server of yours whose Authentication-Results say who a mail is from, as it names itself there; without it a listener asks the domain name system.',
  },
  {
    name: 'MAIL_IN_FROM',
    fallback: '',
    meaning:
      'Addresses and networks that may bring mails to MAIL_IN=smtp or lmtp, by commas; empty: everybody. Needed with MAIL_IN_AUTHSERV unless MAIL_IN_HOST is loopback.',
  },
  {
    name: 'MAIL_IN_MIB_PER_DAY',
    fallback: '2048',
    meaning:
      'MiB of mails that are brought within 24 hours and belong to no ticket; one address may bring a quarter of it. More is put off (452).',
  },
  {
    name: 'TEXTS_DIR',
    fallback: '',
    meaning: 'Folder with texts of yours (en.json, de.json) and a layout for mails (mail.html).',
  },
  {
    name: 'STAFF_EMAIL',
    fallback: '',
    meaning: 'Who is told what needs a person; default: administrators and operators, `off`: nobody.',
  },
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
    name: 'PAYMENTS',
    fallback: 'auto',
    meaning: 'Payment provider: `stripe`, `none`, or `auto`: Stripe when STRIPE_SECRET_KEY is set.',
  },
  {
    name: 'STRIPE_SECRET_KEY',
    fallback: '',
    meaning: "Stripe's secret key, sk_live_…; needed with PAYMENTS=stripe.",
  },
  {
    name: 'STRIPE_WEBHOOK_SECRET',
    fallback: '',
    meaning:
      'Signs what Stripe sends to PUBLIC_URL/api/payments/stripe/events, whsec_…; needed with PAYMENTS=stripe.',
  },
  { name: 'STRIPE_API_URL', fallback: '', meaning: "Another place for Stripe's API, for tests." },
  {
    name: 'VAT',
    fallback: 'none',
    meaning: 'Who knows VAT ids: `vies` asks the European Union, `none` leaves them to staff.',
  },
  {
    name: 'VAT_URL',
    fallback: 'https://ec.europa.eu/taxation_customs/vies/rest-api',
    meaning: "VIES' REST API, or a proxy of yours in front of it.",
  },
  {
    name: 'HYPERVISOR',
    fallback: 'auto',
    meaning:
      '`qemu`, `simulator`, or `auto`: real machines where they can run. `none`, with ROLE=worker: this host runs no machines and filters packets for those of other nodes; see [shield.md](shield.md).',
  },
  {
    name: 'EDGE',
    fallback: 'auto',
    meaning:
      'What filters packets before the machines of this host, or of those behind it, by the rules of Shield: `nftables` (and no start without it), `memory` (nothing real, for tests), `none`, or `auto`: `memory` with simulated machines, else `nftables` where it can be used.',
  },
  {
    name: 'GOBGPD',
    fallback: '',
    meaning:
      'Where the gRPC interface of a gobgpd listens that speaks to the routers in front: `unix:/run/gobgpd/api.sock` or `127.0.0.1:50051`. The worker that names it has them drop attacks; see [shield.md](shield.md).',
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
    name: 'NAMESERVERS',
    fallback: '9.9.9.9,149.112.112.112,2620:fe::fe',
    meaning:
      'Whom new machines and installed servers ask for names, three at most, by commas. Of a machine its customer changes them; a server is told at its next installation.',
  },
  {
    name: 'RACK_INTERFACE',
    fallback: '',
    meaning:
      'Interface of this host on the network that servers in racks start from. The process with a worker that names it gives out addresses there; see [servers.md](servers.md).',
  },
  {
    name: 'RACK_ADDRESSES',
    fallback: '',
    meaning:
      'First and last address that servers get there while they start, 10.78.0.100-10.78.0.199; needed with RACK_INTERFACE.',
  },
  {
    name: 'RACK_PORT',
    fallback: '8070',
    meaning:
      'Port from which servers fetch what they start there; the next one takes the calls of their installer.',
  },
  {
    name: 'INSECURE_BMCS',
    fallback: 'off',
    meaning: '`on` enrols servers although anybody is let in at their BMC; for tests.',
  },
  {
    name: 'DISK_IOPS',
    fallback: '10000',
    meaning: 'Reads and writes a second of one machine at most; 0: no limit.',
  },
  {
    name: 'DISK_MB_PER_SECOND',
    fallback: '500',
    meaning: 'Megabytes a second that one machine reads and writes at most; 0: no limit.',
  },
  {
    name: 'GUEST_NETWORKS',
    fallback: '',
    meaning: 'Private addresses and networks that guests may reach all the same, by commas.',
  },
  {
    name: 'GUEST_PORTS',
    fallback: '',
    meaning: "This host's services that guests may reach, by commas: tcp/80,udp/53.",
  },
  {
    name: 'GUEST_CONNECTIONS',
    fallback: '0',
    meaning: "Connections to one guest at a time at most; 0: a quarter of what this host's table holds.",
  },
  {
    name: 'JOURNAL_DAYS',
    fallback: '0',
    meaning: 'Days for which the journal is kept, and with it activity and audit, 90 at least; 0: for ever.',
  },
  {
    name: 'EVENT_STREAMS',
    fallback: '20',
    meaning: 'Streams of events that one person may have open at one process.',
  },
  {
    name: 'CLUSTER_ALLOW',
    fallback: '',
    meaning:
      'Addresses of this host at which a cluster may answer, by commas; else one that leads to this host is refused.',
  },
  {
    name: 'WEBHOOK_ALLOW',
    fallback: '',
    meaning:
      'Addresses and networks that webhooks may reach although they are private, by commas; also over plain HTTP and on any port.',
  },
  { name: 'ATTACHMENTS', fallback: '10', meaning: 'Files that a message of a ticket may have; 0: none.' },
  { name: 'ATTACHMENT_MIB', fallback: '10', meaning: 'MiB that each of them may have.' },
  {
    name: 'ATTACHMENT_MIB_PER_DAY',
    fallback: '1024',
    meaning: 'MiB of files that an organization may send within 24 hours.',
  },
  {
    name: 'METRICS_ALLOW',
    fallback: '',
    meaning: 'Addresses besides loopback that may read /metrics, by commas.',
  },
  { name: 'TRUSTED_PROXIES', fallback: '', meaning: 'Proxies whose X-Forwarded-For is believed, by commas.' },
  {
    name: 'INVOICE_NUMBERING',
    fallback: 'payment',
    meaning:
      'When an invoice gets its number: `payment`, so that orders nobody pays use none, or `issue`, for who must invoice first.',
  },
  {
    name: 'COUNTRY_HEADER',
    fallback: '',
    meaning: "Header in which those proxies tell the caller's country, such as cf-ipcountry.",
  },
  {
    name: 'INVOICE_DUE_HOURS',
    fallback: '72',
    meaning: 'How long an unpaid order keeps its reservation, and on to the end of that day (UTC).',
  },
  {
    name: 'MAX_UNPAID_ORDERS',
    fallback: '100',
    meaning: 'Orders an organization may have open and not paid.',
  },
  {
    name: 'MAX_UNPAID_ORDERS_NEW',
    fallback: '10',
    meaning: 'The same for an organization that has never paid an invoice in full.',
  },
  {
    name: 'MAX_RESERVED_ADDRESSES',
    fallback: '128',
    meaning: 'IPv4 addresses its unpaid orders may hold; a machine without one counts as one.',
  },
  {
    name: 'MAX_RESERVED_ADDRESSES_NEW',
    fallback: '16',
    meaning: 'The same for an organization that has never paid an invoice in full.',
  },
  {
    name: 'CHECK_RESPONSES',
    fallback: 'off',
    meaning: '`on` holds every response against its schema; for tests.',
  },
];

/** Reads the environment. Throws {@link ConfigError}. */
export function readConfig(env: Record<string, string | undefined>): Config {
  const text = (name: string): string => {
    const setting = settings.find((candidate) => candidate.name === name);
    return env[name] || (setting?.fallback ?? '');
  };
  const read = <T extends unknown[], R>(
    parse: (name: string, text: string, ...rest: T) => R,
    name: string,
    ...rest: T
  ) => parse(name, text(name), ...rest);
  const path = (name: string) => (text(name) ? resolve(text(name)) : null);
  const port = read(whole, 'PORT', 0, 65_535);
  return {
    port,
    host: read(matching, 'HOST', /^[\w.:-]+$/, 'an address such as 127.0.0.1'),
    dataDir: resolve(text('DATA_DIR')),
    filesDir: path('FILES_DIR') ?? resolve(text('DATA_DIR'), 'files'),
    s3: s3(read(choice, 'FILES', ['auto', 'folder', 's3'] as const), {
      url: read(url, 'S3_URL', ['http', 'https'], 'https://s3.example.com'),
      region: read(matching, 'S3_REGION', /^[a-z0-9-]{1,40}$/, 'a region such as eu-central-1'),
      bucket: read(
        matching,
        'S3_BUCKET',
        /^([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])?$/,
        'the name of a bucket: 3 to 63 small letters, digits, dots and hyphens',
      ),
      accessKeyId: text('S3_ACCESS_KEY_ID'),
      secretAccessKey: text('S3_SECRET_ACCESS_KEY'),
    }),
    databaseUrl: read(
      url,
      'DATABASE_URL',
      ['postgres', 'postgresql'],
      'postgres://user:password@host:5432/innkeeper',
    ),
    databaseOwnerUrl: read(
      url,
      'DATABASE_OWNER_URL',
      ['postgres', 'postgresql'],
      'postgres://user:password@host:5432/innkeeper',
    ),
    databaseRetentionUrl: read(
      url,
      'DATABASE_RETENTION_URL',
      ['postgres', 'postgresql'],
      'postgres://user:password@host:5432/innkeeper',
    ),
    databasePoolSize: read(whole, 'DATABASE_POOL_SIZE', 2, 200),
    databaseTimeoutS: read(whole, 'DATABASE_TIMEOUT', 1, 3_600),
    secretKey: read(secretKey, 'SECRET_KEY'),
    role: read(choice, 'ROLE', ['all', 'api', 'worker'] as const),
    workerPort: read(whole, 'WORKER_PORT', 0, 65_535),
    workerHost: read(matching, 'WORKER_HOST', /^[\w.:-]+$/, 'an address such as 127.0.0.1'),
    processUrl: read(url, 'PROCESS_URL', ['http', 'https'], 'http://10.0.0.5:8080'),
    demo: read(onOff, 'DEMO'),
    demoRack: demoRack(read(whole, 'DEMO_RACK', 0, 20), {
      isDemo: read(onOff, 'DEMO') && text('ROLE') === 'all',
      hasRack: text('RACK_INTERFACE') !== '',
    }),
    dashboard: read(onOff, 'DASHBOARD'),
    rateLimits: read(onOff, 'RATE_LIMITS'),
    valkeyUrl: read(url, 'VALKEY_URL', ['valkey', 'valkeys', 'redis', 'rediss'], 'valkey://127.0.0.1:6379/0'),
    sessions: {
      idleHours: read(whole, 'SESSION_IDLE_HOURS', 1, 24 * 365),
      longestHours: read(whole, 'SESSION_LONGEST_HOURS', 1, 24 * 365),
    },
    logLevel: read(choice, 'LOG_LEVEL', logLevels),
    logFormat: read(choice, 'LOG_FORMAT', ['auto', 'json', 'text'] as const),
    publicUrl: origin('PUBLIC_URL', text('PUBLIC_URL') || `http://localhost:${port}`),
    ...mail(
      read(choice, 'MAIL', ['auto', 'smtp', 'database'] as const),
      read(url, 'SMTP_URL', ['smtp', 'smtps'], 'smtp://user:password@mail.example.com:587'),
      ['MAIL_FROM', 'PUBLIC_URL'].filter((name) => !env[name]),
    ),
    staffEmail:
      text('STAFF_EMAIL') === ''
        ? null
        : read(
            matching,
            'STAFF_EMAIL',
            /^(off|[^\s<>@]+@[^\s<>@]+)$/,
            'an address such as noc@example.com, or off',
          ),
    mailFrom: read(
      matching,
      'MAIL_FROM',
      /^[^\r\n]*[^\s<>]+@[^\s<>]+>?$/,
      'a sender such as Example Hosting <billing@example.com>',
    ),
    ...mailIn(
      read(choice, 'MAIL_IN', ['none', 'smtp', 'lmtp', 'imap'] as const),
      text('MAIL_IN_ADDRESS') !== '',
      read(url, 'MAIL_IN_URL', ['imap', 'imaps'], 'imaps://user:password@mail.example.com:993/INBOX'),
      { certFile: path('MAIL_IN_CERTIFICATE'), keyFile: path('MAIL_IN_KEY') },
    ),
    mailInHost: read(matching, 'MAIL_IN_HOST', /^[\w.:-]+$/, 'an address such as 127.0.0.1'),
    mailInPort: read(whole, 'MAIL_IN_PORT', 0, 65_535),
    mailInFolder: read(matching, 'MAIL_IN_FOLDER', /^[\w./ -]{1,100}$/, 'the name of a folder'),
    mailInAddress:
      text('MAIL_IN_ADDRESS') === ''
        ? null
        : read(
            matching,
            'MAIL_IN_ADDRESS',
            // What is added before the @ has to fit into the 64 characters that may stand there.
            /^[A-Za-z0-9._-]{1,30}@[A-Za-z0-9.-]{1,190}$/,
            'an address such as answers@in.example.com, with at most 30 letters, digits, dots, hyphens and underscores before the @',
          ),
    ...mailInTrust({
      engine: read(choice, 'MAIL_IN', ['none', 'smtp', 'lmtp', 'imap'] as const),
      host: text('MAIL_IN_HOST'),
      mailInAuthserv:
        read(
          matching,
          'MAIL_IN_AUTHSERV',
          /^[\w.-]*$/,
          'the name of a mail server, such as mx.example.com',
        ) || null,
      mailInFrom: read(addresses, 'MAIL_IN_FROM'),
    }),
    mailInBytesPerDay: read(whole, 'MAIL_IN_MIB_PER_DAY', 1, 10_000_000) * 1_048_576,
    textsDir: path('TEXTS_DIR'),
    ...dns(
      read(choice, 'DNS', ['auto', 'powerdns', 'database'] as const),
      read(url, 'DNS_URL', ['http', 'https'], 'http://127.0.0.1:8081'),
      text('DNS_API_KEY'),
    ),
    ...payments(
      read(choice, 'PAYMENTS', ['auto', ...paymentProviders, 'none'] as const),
      text('STRIPE_SECRET_KEY'),
      text('STRIPE_WEBHOOK_SECRET'),
      read(url, 'STRIPE_API_URL', ['http', 'https'], 'http://127.0.0.1:12111'),
    ),
    vat: read(choice, 'VAT', ['vies', 'none'] as const),
    vatUrl: read(url, 'VAT_URL', ['http', 'https'], 'https://vies.example.com/rest-api') ?? '',
    ...host(
      read(choice, 'ROLE', ['all', 'api', 'worker'] as const),
      read(choice, 'HYPERVISOR', ['auto', 'qemu', 'simulator', 'none'] as const),
      read(choice, 'EDGE', ['auto', 'nftables', 'memory', 'none'] as const),
    ),
    gobgpd:
      read(
        matching,
        'GOBGPD',
        /^(unix:\/[\w./-]{1,100}|[\w.-]{1,190}:\d{1,5}|\[[\da-fA-F:]{2,45}\]:\d{1,5}|)$/,
        'unix: and the path of a socket, or a host and a port, such as 127.0.0.1:50051',
      ) || null,
    imagesDir: path('IMAGES_DIR'),
    nodeName: read(
      matching,
      'NODE_NAME',
      /^[\w.-]{1,63}$/,
      '1 to 63 letters, digits, dots, hyphens and underscores',
    ),
    location: read(matching, 'LOCATION', /^[\w-]{1,32}$/, '1 to 32 letters, digits, hyphens and underscores'),
    bridge: read(
      matching,
      'BRIDGE',
      /^[\w.-]{1,15}$/,
      'the name of a network interface, at most 15 characters',
    ),
    network4: read(network, 'NETWORK4', 4),
    network6: read(network, 'NETWORK6', 6),
    nat: read(onOff, 'NAT'),
    rack: rack(
      read(choice, 'ROLE', ['all', 'api', 'worker'] as const),
      read(matching, 'RACK_INTERFACE', /^([\w.-]{1,15})?$/, 'the name of a network interface'),
      read(range4, 'RACK_ADDRESSES'),
      read(whole, 'RACK_PORT', 0, 65_534),
    ),
    insecureBmcs: read(onOff, 'INSECURE_BMCS') ? ['0.0.0.0/0', '::/0'] : [],
    netbootUrl: read(url, 'NETBOOT_URL', ['http', 'https', 'tftp'], 'http://boot.example.com/menu.ipxe'),
    diskLimits: {
      iops: read(whole, 'DISK_IOPS', 0, 10_000_000),
      mbPerSecond: read(whole, 'DISK_MB_PER_SECOND', 0, 1_000_000),
    },
    guestNetworks: read(addresses, 'GUEST_NETWORKS'),
    nameservers: read(hosts, 'NAMESERVERS', mostNameservers),
    guestPorts: read(
      matching,
      'GUEST_PORTS',
      /^(?:(?:tcp|udp)\/(?:[1-9]\d{0,3}|[1-5]\d{4}|6[0-4]\d{3}|65[0-4]\d\d|655[0-2]\d|6553[0-5])(?:,(?=.)|$))*$/,
      'protocols and ports by commas, such as tcp/80,udp/53',
    )
      .split(',')
      .filter(Boolean),
    guestConnections: read(whole, 'GUEST_CONNECTIONS', 0, 10_000_000) || null,
    journalDays: journalDays(
      read(whole, 'JOURNAL_DAYS', 0, 36_500),
      text('DATABASE_URL') === '' || text('DATABASE_RETENTION_URL') !== '',
    ),
    eventStreamsPerPerson: read(whole, 'EVENT_STREAMS', 1, 100_000),
    clusterAllow: read(addresses, 'CLUSTER_ALLOW'),
    webhookAllow: read(addresses, 'WEBHOOK_ALLOW'),
    attachments: {
      most: read(whole, 'ATTACHMENTS', 0, 100),
      bytes: read(whole, 'ATTACHMENT_MIB', 1, 1_024) * 1_048_576,
      bytesPerDay: read(whole, 'ATTACHMENT_MIB_PER_DAY', 1, 10_000_000) * 1_048_576,
    },
    metricsAllow: read(addresses, 'METRICS_ALLOW'),
    trustedProxies: read(addresses, 'TRUSTED_PROXIES'),
    invoiceNumbering: read(choice, 'INVOICE_NUMBERING', ['payment', 'issue'] as const),
    countryHeader:
      read(
        matching,
        'COUNTRY_HEADER',
        /^[\w-]*$/,
        'the name of a header, such as cf-ipcountry',
      ).toLowerCase() || null,
    invoiceDueHours: read(whole, 'INVOICE_DUE_HOURS', 1, 24 * 365),
    unpaid: {
      known: {
        orders: read(whole, 'MAX_UNPAID_ORDERS', 1, 1_000_000),
        addresses: read(whole, 'MAX_RESERVED_ADDRESSES', 1, 1_000_000),
      },
      fresh: {
        orders: read(whole, 'MAX_UNPAID_ORDERS_NEW', 1, 1_000_000),
        addresses: read(whole, 'MAX_RESERVED_ADDRESSES_NEW', 1, 1_000_000),
      },
    },
    checkResponses: read(onOff, 'CHECK_RESPONSES'),
  };
}

/** A host without machines is there to filter, and beside a worker elsewhere that has some. */
function host(
  role: Config['role'],
  hypervisor: Config['hypervisor'],
  edge: Config['edge'],
): Pick<Config, 'hypervisor' | 'edge'> {
  if (hypervisor === 'none' && role === 'all')
    throw new ConfigError('HYPERVISOR is none, so ROLE has to be worker: such a host only filters.');
  if (hypervisor === 'none' && role === 'worker' && edge === 'none')
    throw new ConfigError('HYPERVISOR is none, so EDGE cannot be none too: such a host only filters.');
  return { hypervisor, edge };
}

function rack(
  role: Config['role'],
  name: string,
  range: { from: string; to: string } | null,
  port: number,
): Config['rack'] {
  if (name === '') return null;
  if (role === 'api')
    throw new ConfigError(
      'RACK_INTERFACE is set, so ROLE cannot be api: only a process with a worker serves it.',
    );
  if (range === null) throw new ConfigError('RACK_INTERFACE is set, so RACK_ADDRESSES is needed.');
  return { interface: name, ...range, port };
}

function demoRack(servers: number, { isDemo, hasRack }: { isDemo: boolean; hasRack: boolean }): number {
  if (servers === 0) return 0;
  if (!isDemo)
    throw new ConfigError('DEMO_RACK is set, so DEMO has to be on, and ROLE all: it is the demonstration’s.');
  if (hasRack)
    throw new ConfigError(
      'DEMO_RACK is set, so RACK_INTERFACE cannot be: that rack has a network of its own.',
    );
  return servers;
}

/** Most programs ask no more of them. */
const mostNameservers = 3;

const fewestJournalDays = 90;

function journalDays(days: number, isPossible: boolean): number | null {
  if (days === 0) return null;
  if (days < fewestJournalDays)
    throw new ConfigError(`JOURNAL_DAYS is "${days}"; it takes 0, or a whole number from 90 to 36500.`);
  if (!isPossible)
    throw new ConfigError('JOURNAL_DAYS is set, so DATABASE_RETENTION_URL is needed beside DATABASE_URL.');
  return days;
}

const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'silent'] as const;

/** Whether a URL with this host leads to whoever opens it, and to nobody else. */
export function isThisHost(hostname: string): boolean {
  return /^(localhost|127\..*|\[::1\])$/.test(hostname);
}

/**
 * Mails that leave this host are from somebody and lead somewhere: what their defaults say is true on this host alone. It is
 * said and not refused, since an update must not stop a company whose mail server writes a sender of its own.
 */
function mail(
  engine: 'auto' | Config['mail'],
  smtpUrl: string | null,
  unset: readonly string[],
): Pick<Config, 'mail' | 'smtpUrl' | 'mailLacks'> {
  const chosen = engine === 'auto' ? (smtpUrl === null ? 'database' : 'smtp') : engine;
  if (chosen === 'smtp' && smtpUrl === null)
    throw new ConfigError('MAIL is smtp, so SMTP_URL is needed too.');
  const leaves = smtpUrl !== null && !isThisHost(new URL(smtpUrl).hostname);
  return { mail: chosen, smtpUrl: smtpUrl ?? '', mailLacks: chosen === 'smtp' && leaves ? unset : [] };
}

function mailIn(
  engine: Config['mailIn'],
  hasAddress: boolean,
  url: string | null,
  { certFile, keyFile }: { certFile: string | null; keyFile: string | null },
): Pick<Config, 'mailIn' | 'mailInUrl' | 'mailInTls'> {
  if (engine !== 'none' && !hasAddress)
    throw new ConfigError(`MAIL_IN is ${engine}, so MAIL_IN_ADDRESS is needed too.`);
  if (engine === 'imap' && url === null)
    throw new ConfigError('MAIL_IN is imap, so MAIL_IN_URL is needed too.');
  if ((certFile === null) !== (keyFile === null))
    throw new ConfigError('MAIL_IN_CERTIFICATE and MAIL_IN_KEY are needed together.');
  const mailInTls = certFile === null || keyFile === null ? null : { certFile, keyFile };
  return { mailIn: engine, mailInUrl: url ?? '', mailInTls };
}

/** What a server in front says of a mail is believed of those alone who cannot be anybody else. */
function mailInTrust({
  engine,
  host,
  ...trust
}: Pick<Config, 'mailInAuthserv' | 'mailInFrom'> & { engine: Config['mailIn']; host: string }) {
  const isListening = engine === 'smtp' || engine === 'lmtp';
  const isHere = /^(localhost|127\.\d+\.\d+\.\d+|::1)$/.test(host);
  if (trust.mailInAuthserv !== null && isListening && !isHere && trust.mailInFrom.length === 0)
    throw new ConfigError(
      `MAIL_IN_AUTHSERV is set and MAIL_IN_HOST is ${host}, so MAIL_IN_FROM has to say which servers bring mails.`,
    );
  return trust;
}

function s3(
  engine: 'auto' | 'folder' | 's3',
  { url: given, ...storage }: Omit<NonNullable<Config['s3']>, 'url'> & { url: string | null },
): Config['s3'] {
  if (engine === 'folder' || (engine === 'auto' && given === null)) return null;
  if (given === null) throw new ConfigError('FILES is s3, so S3_URL is needed too.');
  if (storage.bucket === '') throw new ConfigError('Files are kept in S3, so S3_BUCKET is needed.');
  if (storage.accessKeyId === '' || storage.secretAccessKey === '')
    throw new ConfigError('Files are kept in S3, so S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY are needed.');
  return { url: given, ...storage };
}

function dns(
  engine: 'auto' | Config['dns'],
  dnsUrl: string | null,
  dnsApiKey: string,
): Pick<Config, 'dns' | 'dnsUrl' | 'dnsApiKey'> {
  const chosen = engine === 'auto' ? (dnsUrl === null ? 'database' : 'powerdns') : engine;
  if (chosen === 'database') return { dns: chosen, dnsUrl: '', dnsApiKey: '' };
  if (dnsUrl === null) throw new ConfigError('DNS is powerdns, so DNS_URL is needed too.');
  if (dnsApiKey === '') throw new ConfigError('Names are kept in PowerDNS, so DNS_API_KEY is needed.');
  return { dns: chosen, dnsUrl, dnsApiKey };
}

function payments(
  engine: 'auto' | Config['payments'],
  stripeSecretKey: string,
  stripeWebhookSecret: string,
  stripeApiUrl: string | null,
): Pick<Config, 'payments' | 'stripeSecretKey' | 'stripeWebhookSecret' | 'stripeApiUrl'> {
  const chosen = engine === 'auto' ? (stripeSecretKey === '' ? 'none' : 'stripe') : engine;
  if (chosen === 'none')
    return { payments: chosen, stripeSecretKey: '', stripeWebhookSecret: '', stripeApiUrl: null };
  if (stripeSecretKey === '')
    throw new ConfigError('PAYMENTS is stripe, so STRIPE_SECRET_KEY is needed too.');
  if (stripeWebhookSecret === '')
    throw new ConfigError(
      'Customers pay by Stripe, so STRIPE_WEBHOOK_SECRET is needed: what Stripe tells is signed.',
    );
  return { payments: chosen, stripeSecretKey, stripeWebhookSecret, stripeApiUrl };
}
