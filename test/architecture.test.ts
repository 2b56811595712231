/**
 * The house rules that the compiler cannot see: who may know whom, who may write what, and that what is
 * declared is also described. Every list of exceptions says why.
 */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { allPersonal, allRoutes } from '../src/api.ts';
import { paymentProviders, settings } from '../src/config.ts';
import { trafficTableNames } from '../src/fleet/traffic/resolutions.ts';
import { allStatements } from '../src/platform/database/index.ts';
import { errorCodes, faceOf, statusName } from '../src/platform/errors.ts';
import { listRoutes } from '../src/platform/http/index.ts';
import { chartTableNames } from '../src/vps/chartParts.ts';
import { allConcerns } from '../src/worker.ts';
import { checksumsOfMigrations, mergedMigrations } from './mergedMigrations.ts';
import { startTestProduct, type TestProduct } from './product.ts';
import { sql, tableNames } from './sql.ts';

/** Without those that tests declare: other files ran in this process before. */
const ofProduct = allStatements().filter(({ name }) => !/^(\w+T|t)est\./.test(name));
const root = path.join(import.meta.dirname, '..');
const personal = allPersonal.flatMap((room) => room.tables);

/** A room knows the rooms before it, never those after it. */
const stairs = [
  ...[
    'platform',
    'drivers',
    'events',
    'account',
    'attention',
    'organizations',
    'webhooks',
    'settings',
    'search',
    'consoles',
    'fleet',
    'catalog',
    'billing',
  ],
  ...['services', 'shield', 'vps', 'dedicated', 'cart', 'tickets'],
];
/** On top of the stairs: they put the rooms together. */
const roots = [
  'demo',
  'again.ts',
  'clusters.ts',
  'consoleHosts.ts',
  'serverNetwork.ts',
  'heardByStaff.ts',
  'introduction.ts',
  'node.ts',
  'painter.ts',
  'painterThread.ts',
  'dashboard.ts',
  'database.ts',
  'backup',
  'connections.ts',
  'warn.ts',
  'product.ts',
  'commands',
  'api.ts',
  'worker.ts',
  'main.ts',
];
/** Parsed once, known to all; it knows nobody. */
const ground = ['version.ts', 'configValues.ts', 'config.ts'];

const doors = [/^platform\/http\/index\.ts$/, /^platform\/host\/\w+\.ts$/, /^drivers\/\w+\/index\.ts$/];
/** The composition root also starts what no room may know: the database's server, the staff's view of jobs. */
const doorsOfRoots = [/^platform\/database\/embedded\/index\.ts$/, /^platform\/jobs\/staffRoutes\.ts$/];

/** Who writes which table. Platform's statements are named after its parts. */
const tablesOf: Record<string, string[]> = {
  installation: ['installation', 'clock_leaps'],
  jobs: ['jobs', 'job_steps', 'workers', 'set_aside'],
  restores: ['restores'],
  idempotency: ['idempotency_keys'],
  account: [
    ...['users', 'api_keys', 'ssh_keys', 'email_changes'],
    ...['sessions', 'devices', 'account_links', 'address_requests', 'totp_factors', 'recovery_codes'],
    ...['passkeys', 'passkey_challenges', 'factor_resets', 'impersonations'],
  ],
  attention: ['staff_concerns', 'staff_mailings'],
  organizations: ['organizations', 'memberships', 'invitations'],
  webhooks: ['webhook_attempts', 'webhook_cursor', 'webhook_deliveries', 'webhook_endpoints'],
  settings: ['settings'],
  events: ['journal', 'journal_horizon', 'mails', 'bounced_addresses'],
  consoles: ['console_hosts', 'console_seats', 'console_tickets'],
  fleet: [
    ...['nodes', 'placements', 'left_rooms', 'address_pools', 'addresses', 'images', 'fleet_days'],
    ...['clusters', 'cluster_images'],
    ...[
      'racks',
      'servers',
      'server_ports',
      'server_disks',
      'server_bmcs',
      'server_readings',
      'server_profiles',
      'switches',
      'switch_ports',
    ],
    ...['server_traffic', ...trafficTableNames, 'server_traffic_months'],
    ...['server_enrolment', 'server_networks', 'server_starts', 'server_arrivals', 'server_assignments'],
  ],
  catalog: [
    'product_groups',
    'products',
    'product_prices',
    'product_options',
    'coupons',
    'coupon_uses',
    'coupon_uses_of_people',
  ],
  billing: [
    ...[
      'billing_profiles',
      ...[
        'charges',
        'charge_returns',
        'credit_returns',
        'disputes',
        'payment_methods',
        'provider_comparisons',
        'provider_customers',
        'provider_events',
        'payouts',
        'unknown_payments',
      ],
      'tax_rates',
      'tax_standings',
      'tax_evidence',
      'invoices',
      'invoice_items',
      'invoice_series',
      'forgotten_books',
      'payments',
      'refunds',
      'transfers',
    ],
    ...['ledger_accounts', 'ledger_transactions', 'ledger_entries', 'ledger_checks', 'ledger_differences'],
    ...['deferrals', 'earnings'],
    ...['ledger_periods', 'ledger_period_transactions', 'ledger_period_sums'],
    ...['bank_statements', 'bank_entries'],
  ],
  services: [
    ...[
      'services',
      'service_secrets',
      'service_tasks',
      'service_renewals',
      'service_periods',
      'service_changes',
      'service_returns',
    ],
    ...['service_traffic', 'service_traffic_notices', 'service_traffic_turn'],
    'order_reviews',
    ...['recurring_revenue', 'recurring_changes'],
    ...['service_calendar', 'service_calendar_steps', 'payment_promises'],
    ...['price_moves', 'service_price_moves'],
  ],
  shield: [
    ...['shield_addresses', 'shield_applies', 'shield_attacks', 'shield_counts', 'shield_filters'],
    ...['shield_groups', 'shield_limiters', 'shield_mitigations', 'shield_products', 'shield_rules'],
    ...['shield_usual', 'shield_edges', 'shield_fronts', 'shield_prefixes', 'shield_organizations'],
    ...['shield_announcements', 'shield_announced_rules', 'shield_traces'],
    ...['shield_traffic_minutes', 'shield_traffic_hours', 'shield_flows'].flatMap((table) => {
      return [table, ...Array.from({ length: 8 }, (_, nth) => `${table}_${nth}`)];
    }),
  ],
  vps: [
    ...[
      'machines',
      'vps_actions',
      'vps_evacuations',
      'vps_moves',
      'vps_node_alarms',
      'vps_recoveries',
      'vps_snapshots',
      'vps_traffic',
      'vps_access',
      'vps_secrets',
      'vps_samples',
      'vps_upgrades',
      'vps_unknown_machines',
    ],
    ...['console_lines', 'vps_charts', ...chartTableNames],
  ],
  dedicated: [
    ...['dedicated_actions', 'dedicated_credentials', 'dedicated_moves', 'dedicated_systems'],
    ...['dedicated_outages'],
    ...['erased_disks', 'erasure_proofs'],
  ],
  tickets: [
    ...['tickets', 'ticket_messages', 'ticket_words', 'ticket_attachments'],
    ...['ticket_canned_replies', 'ticket_feedback', 'ticket_writers'],
    ...['ticket_mails', 'ticket_mail_files', 'ticket_mail_source'],
  ],
};

/** Tables that a room reads although another writes them: one statement says what two rooms know. */
const readsOf: Record<string, { tables: string[]; why: string }> = {
  events: {
    tables: ['email_changes', 'organizations', 'users'],
    why: 'to whom a mail goes; each entry of the audit says whose it is, and who did it to whom',
  },
  fleet: {
    tables: ['jobs', 'product_options', 'products', 'restores', 'services', 'vps_unknown_machines'],
    why: 'a profile names the product that its servers are the stock of, staff reads what that is called, and what it asks for has to be what the profile says; whether anything is at work for the service that has a server; what a server carries is of the organization whose service has it; which servers a person compares after a restore; a cluster is not forgotten with what may be a customer’s machine',
  },
  catalog: {
    tables: ['invoices'],
    why: 'for which organizations a person used a coupon, so that a use which a process of another version gave back is theirs again',
  },
  account: {
    tables: ['journal', 'mails', 'memberships'],
    why: "a person's sign-ins are entries of the journal; staff asks who is in an organization; factors go days after their person was told",
  },
  organizations: {
    tables: [
      ...['api_keys', 'billing_profiles', 'impersonations', 'journal', 'passkeys', 'sessions'],
      ...['totp_factors', 'users'],
    ],
    why: 'who a request comes from, asked at every request; who is a member, and whether by a second factor; activity is the journal, with the names of people and keys; address and tax id are shown, and said in the billing profile',
  },
  billing: {
    tables: ['journal', 'organizations', 'restores', 'service_renewals', 'services', 'set_aside'],
    why: 'whether what an invoice sold still runs; which invoices are for one period, since a debit of theirs that came back counts for all; the country that taxes, the lock that numbers invoices, whose they are for staff, and what a periodic job leaves out; staff is told in one list what a restore holds, and by the journal whether customers heard of it',
  },
  services: {
    tables: [
      ...['addresses', 'billing_profiles', 'charges', 'invoices', 'mails', 'organizations', 'placements'],
      ...['product_groups', 'product_prices', 'products', 'server_traffic_months', 'set_aside'],
    ],
    why: 'each row of a list shows them, and a row is one of a hundred; what unpaid orders hold is one sum; which months of traffic are not settled; the calendar looks at fifty services at once, what they owe and what their customers were told',
  },
  shield: {
    tables: ['address_pools', 'addresses', 'nodes', 'organizations', 'placements', 'products', 'services'],
    why: 'whether an address is the caller’s is asked with what is to be done there, and by which node; staff sets what is so of the addresses of a product, sees whose attacks there are and which node speaks to an edge, and names no networks but the provider’s',
  },
  vps: {
    tables: ['api_keys', 'images', 'invoices', 'nodes', 'products', 'services', 'users'],
    why: 'a machine is answered for, locked and looked after together with its service; an action says who asked for it',
  },
  dedicated: {
    tables: ['api_keys', 'products', 'services', 'users'],
    why: 'a server is answered for and locked together with its service; an action says who asked for it',
  },
  tickets: {
    tables: ['invoices', 'memberships', 'organizations', 'products', 'services', 'users', 'vps_actions'],
    why: 'each row says who wrote it; who is told has to be a member still; a ticket names a service of its organization; beside it staff sees what its customer has, owes, and what failed',
  },
};

/** Tables without an organization: they belong to a person, or to the provider. */
const withoutOrganization: Record<string, string> = {
  users: 'a person may act in several organizations',
  api_keys: "a person's",
  ssh_keys: "a person's",
  email_changes: "a person's",
  sessions: "a person's",
  devices: "a person's",
  account_links: "a person's",
  address_requests: "a stranger's",
  totp_factors: "a person's",
  recovery_codes: "a person's",
  passkeys: "a person's",
  factor_resets: "a person's",
  passkey_challenges: "a person's, or a stranger's who is about to sign in",
  installation: "the provider's: one row for the whole installation",
  clock_leaps: "the provider's: its hosts",
  service_traffic_turn: "the provider's: one row for all services",
  webhook_cursor: "the provider's: one row for the whole journal",
  journal_horizon: "the provider's: one row for the whole journal",
  idempotency_keys: "a person's; the organization is part of the hashed scope",
  organizations: 'is the organization',
  bounced_addresses: "the provider's: what its mail server said of an address",
  staff_concerns: "the provider's",
  staff_mailings: "the provider's",
  job_steps: 'part of a job, which names the organization',
  workers: "the provider's",
  nodes: "the provider's",
  clusters: "the provider's",
  cluster_images: "the provider's",
  console_hosts: "the provider's: which of its processes runs a node",
  console_seats: "the provider's: a server of its own",
  console_lines: "the provider's: which of its processes holds a machine's line",
  racks: "the provider's",
  servers: "the provider's",
  server_ports: "the provider's",
  server_readings: "the provider's",
  server_profiles: "the provider's",
  server_disks: "the provider's",
  server_bmcs: "the provider's",
  server_enrolment: "the provider's",
  server_networks: "the provider's: which of its processes serves one",
  server_starts: "the provider's: a machine that nobody owns yet",
  server_arrivals: "the provider's: a machine that nobody owns yet",
  server_assignments: "the provider's: what its installer does with a server of its own",
  dedicated_systems: 'part of a service, which names the organization',
  dedicated_outages: 'part of a service, which names the organization',
  switches: "the provider's",
  switch_ports: "the provider's",
  vps_evacuations: "the provider's: a node of its own",
  settings: "the provider's",
  ticket_canned_replies: "the provider's",
  ticket_mail_files: 'files that arrive: whose they are is known when they are read',
  ticket_mail_source: 'how it stands with whoever brings mails',
  ticket_writers: "the provider's: who of staff writes",
  restores: "the provider's",
  shield_counts: 'part of a rule, which names the organization',
  shield_products: "the provider's",
  shield_edges: "the provider's",
  shield_fronts: "the provider's",
  shield_prefixes: "the provider's",
  left_rooms: "the provider's: what its nodes still have of machines that are elsewhere",
  vps_node_alarms: "the provider's",
  vps_unknown_machines: "the provider's, until it is known whose they are",
  address_pools: "the provider's",
  fleet_days: "the provider's",
  images: "the provider's",
  product_groups: "the provider's",
  products: "the provider's",
  product_prices: "the provider's",
  product_options: "the provider's",
  price_moves: "the provider's; what it does to a service stands with that",
  coupons: "the provider's; their use is part of an invoice",
  coupon_uses_of_people: "a person's, for whichever organization",
  tax_rates: "the provider's",
  provider_comparisons: "the provider's",
  payouts: "the provider's",
  provider_events:
    "the provider's: what a payment provider told, of whom it is known only when it is looked at",
  ledger_checks: "the provider's",
  ledger_periods: "the provider's",
  ledger_period_transactions: "the provider's; whose a posting is stands in it",
  ledger_period_sums: "the provider's",
  bank_statements: "the provider's; whose money an entry is stands in it",
  invoice_series: "the provider's: sequences over all organizations",
};

/** May start processes besides `platform/host` and the drivers. */
const spawners: Record<string, string> = {
  'platform/database/embedded/server.ts': 'keeps the PostgreSQL server of this installation running',
};

interface Source {
  file: string;
  text: string;
  /** Paths below `src` of what it imports of ours. */
  imports: string[];
}

const sources: Source[] = readdirSync(path.join(root, 'src'), { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts') && !/\.test\w*\.ts$|conformance\.ts$|testbed\.ts$/.test(file))
  .map((file) => {
    const text = readFileSync(path.join(root, 'src', file), 'utf8');
    const named = [...text.matchAll(/\b(?:from|import)\s*\(?\s*'(\.[^']+)'/g)].map((match) => match[1] ?? '');
    return { file, text, imports: named.map((name) => path.join(path.dirname(file), name)) };
  });

/** Everything that is written in a folder, tests as well. */
function readSources(folder: string): { file: string; text: string }[] {
  return readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.tsx?$/.test(file))
    .map((name) => path.join(folder, name))
    .map((file) => ({ file, text: readFileSync(path.join(root, file), 'utf8') }));
}

function namesIn(list: string): string[] {
  return list
    .split(',')
    .map((name) =>
      name
        .trim()
        .replace(/^type /, '')
        .replace(/ as .*$/, ''),
    )
    .filter((name) => name !== '');
}

function roomOf(file: string): string {
  return file.split(path.sep)[0] ?? '';
}

describe('imports', () => {
  it('are made of known rooms only', () => {
    const rooms = new Set(sources.map((source) => roomOf(source.file)));
    const strange = [...rooms].filter((room) => ![...ground, ...stairs, ...roots].includes(room));
    expect(strange, 'a new room takes its place in `stairs`, after the rooms it imports from').toEqual([]);
  });

  it('go down the stairs', () => {
    const height = (file: string) => [...ground, ...stairs, ...roots].indexOf(roomOf(file));
    const upward = sources.flatMap(({ file, imports }) =>
      roots.includes(roomOf(file)) || height(file) === -1
        ? []
        : imports.filter((target) => height(target) > height(file)).map((target) => `${file} → ${target}`),
    );
    expect(upward, 'up the stairs go events: the room above declares a reaction with `on`').toEqual([]);
  });

  it('make no circle, not even of two files', () => {
    const importsOf = new Map(sources.map(({ file, imports }) => [file, imports]));
    const circles: string[] = [];
    const done = new Set<string>();
    const follow = (file: string, way: string[]): void => {
      if (way.includes(file)) circles.push([...way.slice(way.indexOf(file)), file].join(' → '));
      if (way.includes(file) || done.has(file)) return;
      for (const next of importsOf.get(file) ?? []) follow(next, [...way, file]);
      done.add(file);
    };
    for (const { file } of sources) follow(file, []);
    expect(circles).toEqual([]);
  });

  it('enter another room through its door', () => {
    const isDoor = (target: string, from: string) =>
      !target.includes('/') ||
      target === `${roomOf(target)}/index.ts` ||
      doors.some((door) => door.test(target)) ||
      (roots.includes(roomOf(from)) && doorsOfRoots.some((door) => door.test(target)));
    const through = sources.flatMap(({ file, imports }) =>
      imports
        .filter((target) => roomOf(target) !== roomOf(file) && !isDoor(target, file))
        .map((target) => `${file} → ${target}`),
    );
    expect(through, "what another room needs is exported by its room's index.ts").toEqual([]);
  });

  it('take what a door shows: what nobody outside of the room needs is not at its door', () => {
    const outside = ['src', 'test', 'bench', 'packaging', 'cli', 'client', 'web'].flatMap(readSources);
    const taken = outside.flatMap(({ file, text }) =>
      [...text.matchAll(/\bimport \{([^}]*)\} from '(\.[^']+)'/g)].flatMap(([, names = '', from = '']) =>
        namesIn(names).map((name) => `${path.join(path.dirname(file), from)} ${name}`),
      ),
    );
    const isTaken = new Set(taken);
    const shown = outside.filter(({ file }) => /^src\/\w+\/index\.ts$/.test(file));
    const needless = shown.flatMap(({ file, text }) =>
      [...text.matchAll(/\bexport \{([^}]*)\} from/g)]
        .flatMap(([, names = '']) => namesIn(names.replaceAll(/\btype \w+/g, '')))
        .filter((name) => !isTaken.has(`${file} ${name}`))
        .map((name) => `${file}: ${name}`),
    );
    expect(needless).toEqual([]);
  });

  it('know no payment provider by its name: another one is an engine and a row of `paymentProviders`', () => {
    const named = sources
      .filter(({ file }) => !/^(drivers\/|config\.ts)|\/examples\.ts$/.test(file))
      .flatMap(({ file, text }) =>
        text
          .split('\n')
          .filter((line) => paymentProviders.some((name) => line.includes(`'${name}'`)))
          .filter((line) => !/\bexamples: /.test(line))
          .map((line) => `${file}: ${line.trim()}`),
      );
    expect(named).toEqual([]);
  });

  it('start processes in a few known places only', () => {
    const starting = sources
      .filter(({ text }) => /'(node:)?child_process'/.test(text))
      .map(({ file }) => file)
      .filter((file) => !/^(platform\/host|drivers)\//.test(file) && !(file in spawners));
    expect(starting, 'programs are started through platform/host/program.ts').toEqual([]);
  });
});

describe('errors', () => {
  it('have a code, a status with a name, and words of their own', () => {
    for (const code of errorCodes()) {
      const { status, message } = faceOf(code);
      expect(code).toMatch(/^[a-z][a-z0-9]*(_[a-z0-9]+)*$/);
      expect(statusName(status), `${code}: ${status}`).not.toBe('Error');
      expect(message).not.toBe('');
    }
  });
});

describe('what a room declares', () => {
  it('is loaded with its door', () => {
    const declarations = sources.filter(({ file }) => /^\w+\/(errors|limits|permissions)\.ts$/.test(file));
    const doorOf = (file: string) => sources.find((source) => source.file === `${roomOf(file)}/index.ts`);
    const shut = declarations.filter(
      ({ file }) => roomOf(file) !== 'platform' && !doorOf(file)?.imports.includes(file),
    );
    expect(
      shut.map(({ file }) => file),
      "the room's index.ts imports it: import './errors.ts'",
    ).toEqual([]);
  });
});

describe('operations', () => {
  it('have names of their own', () => {
    const names = listRoutes(allRoutes).map((route) => route.operation);
    const twice = names.filter((name, at) => names.indexOf(name) !== at);
    expect(twice, 'another operation has this name; generated clients call it by it').toEqual([]);
  });
});

describe('a pattern', () => {
  it('says in words what it takes', () => {
    const wordless: string[] = [];
    const look = (schema: unknown, where: string): void => {
      if (typeof schema !== 'object' || schema === null) return;
      if ('pattern' in schema && typeof schema.pattern === 'string' && !('x-message' in schema)) {
        wordless.push(`${where}: ${schema.pattern}`);
      }
      for (const inner of Object.values(schema)) look(inner, where);
    };
    for (const { operation, params, query, body } of listRoutes(allRoutes))
      look([params, query, body], operation);
    expect(wordless, 'say in words what it takes: an x-message beside the pattern').toEqual([]);
  });
});

describe('what needs a person', () => {
  it('is documented as the code has it', () => {
    const text = readFileSync(path.join(root, 'docs/operations/running.md'), 'utf8');
    const section = text.split(/^## /m).find((each) => each.startsWith('What needs a person')) ?? '';
    const documented = [...section.matchAll(/^\| `(\w+\.\w+)` \| (.+) \|$/gm)];
    expect(documented.map(([, kind, title]) => ({ kind, title }))).toEqual(
      allConcerns.map(({ kind, title }) => ({ kind, title })),
    );
  });
});

describe('settings', () => {
  it('are documented as the code has them', () => {
    const text = readFileSync(path.join(root, 'docs/operations/configuration.md'), 'utf8');
    const documented = text
      .split('\n')
      .filter((line) => /^\| *`[A-Z]/.test(line))
      .map((line) => line.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll('\\|', '|')));
    const plain = (cell = '') => cell.replace(/^`(.*)`$/, '$1').replace(/^[–—-]$/, '');
    expect(
      documented.map(([, name, fallback, meaning]) => ({
        name: plain(name),
        fallback: plain(fallback),
        meaning,
      })),
    ).toEqual(settings);
  });
});

describe('on the real schema', () => {
  let product: TestProduct;
  beforeAll(async () => {
    product = await startTestProduct();
  });
  afterAll(() => product.stop());

  it('every statement is valid', async () => {
    const wrong: string[] = [];
    for (const { name, text } of ofProduct) {
      await sql(product, `prepare checked as ${text}; deallocate checked`).catch((error: Error) =>
        wrong.push(`${name}: ${error.message}`),
      );
    }
    expect(wrong).toEqual([]);
  });

  it('every statement is named after the room that declares it', () => {
    const strange = sources.flatMap(({ file, text }) =>
      [...text.matchAll(/\bstatement(?:<[^`]*?>)?\(\s*'(\w+)\./g)]
        .map((match) => match[1] ?? '')
        .filter((prefix) => !(roomOf(file) === 'platform' ? file.includes(prefix) : prefix === roomOf(file)))
        .map((prefix) => `${file}: ${prefix}`),
    );
    expect(strange, 'a statement is called room.verb').toEqual([]);
  });

  it('every table has one room that writes it, and no other room does', async () => {
    const owned = Object.values(tablesOf).flat();
    const inTablesOf = 'each table of migrations/ (-) stands in `tablesOf` (+), at the room that writes it';
    expect(owned.toSorted(), inTablesOf).toEqual(await tableNames(product));
    const strangers = ofProduct.flatMap(({ name, text }) => {
      const own = tablesOf[name.split('.', 1)[0] ?? ''] ?? [];
      return writtenBy(text)
        .filter((table) => owned.includes(table) && !own.includes(table))
        .map((table) => `${name} writes ${table}`);
    });
    expect(strangers, 'ask the room that writes the table for a verb').toEqual([]);
  });

  it('a migration that is merged is as it was, and new ones come after it', () => {
    const [now, merged] = [checksumsOfMigrations(), mergedMigrations()];
    const changed = Object.keys(merged).filter((name) => now[name] !== merged[name]);
    expect(changed, 'databases refuse to start with another text than they were made by').toEqual([]);
    const newest = Object.keys(merged).at(-1) ?? '';
    const between = Object.keys(now).filter((name) => !(name in merged) && name < newest);
    expect(between, 'a database that has the later ones has them in another order').toEqual([]);
  });

  it('every table stands in ARCHITECTURE.md, in the row of its room', () => {
    const text = readFileSync(path.join(root, 'ARCHITECTURE.md'), 'utf8');
    const rows = [...text.matchAll(/^\| `(\w+)\/` \|[^|]*\| ([^|]*) \|$/gm)];
    const named = Object.fromEntries(
      rows.map(([, room = '', tables = '']) => [
        room,
        [...tables.matchAll(/`([\w*]+)`/g)].map(([, name = '']) => name),
      ]),
    );
    const missing = Object.entries(tablesOf).flatMap(([room, tables]) => {
      const said = named[stairs.includes(room) ? room : 'platform'] ?? [];
      return tables
        .filter((table) => !said.some((name) => isNamed(table, name)))
        .map((table) => `${room}: ${table}`);
    });
    const owned = Object.values(tablesOf).flat();
    const gone = Object.values(named)
      .flat()
      .filter((name) => !owned.some((table) => isNamed(table, name)));
    expect({ missing, gone }, 'the column "Its tables" of the rooms').toEqual({ missing: [], gone: [] });
  });

  it('a table is read by the room that writes it, and by those that say why', () => {
    const owned = Object.values(tablesOf).flat();
    const read: Record<string, Set<string>> = {};
    // Made of statements of other rooms, each of which stands in the list by itself.
    const composed = ['jobs.glance', 'attention.kindsThatDiffer'];
    for (const { name, text } of ofProduct) {
      if (composed.includes(name)) continue;
      const room = name.split('.', 1)[0] ?? '';
      for (const table of readBy(text)) {
        if (!(room in tablesOf) || !owned.includes(table) || tablesOf[room]?.includes(table)) continue;
        read[room] ??= new Set();
        read[room].add(table);
      }
    }
    const found = Object.entries(read).map(([room, tables]) => [room, [...tables].toSorted()]);
    const said = Object.entries(readsOf).map(([room, { tables }]) => [room, tables]);
    const inReadsOf =
      'what a room reads of others (+) stands in `readsOf` with the reason (-); ask its room first';
    expect(Object.fromEntries(found), inReadsOf).toEqual(Object.fromEntries(said));
  });

  it('every table of a tenant has its organization', async () => {
    const rows = await sql<{ table_name: string }>(
      product,
      `select table_name from information_schema.columns
       where table_schema = 'public' and column_name = 'organization_id'`,
    );
    const has = new Set(rows.map((row) => row.table_name));
    const without = (await tableNames(product)).filter((table) => !has.has(table));
    const why = 'a table without organization_id (+) stands in `withoutOrganization` with the reason (-)';
    expect(without, why).toEqual(Object.keys(withoutOrganization).toSorted());
  });

  it('every table that knows of people or organizations says what becomes of its rows', async () => {
    const columns = await columnsOf();
    const names = /^(user_id|staff_id|organization_id|initiator_id|assigned_to|.*_by)$/;
    const nobody = ['machines.replaced_by']; // another node
    const missing = columns
      .filter(({ name, type }) => type === 'bigint' && names.test(name))
      .filter(({ table, name }) => {
        const {
          people = [],
          others = [],
          organization,
        } = personal.find((each) => each.table === table) ?? {};
        return ![...people, ...others, organization].includes(name);
      })
      .map(({ table, name }) => `${table}.${name}`)
      .filter((column) => !nobody.includes(column));
    const how =
      "declare it in the room's personal.ts: what is exported to whom it is about, and what closing an account does with it";
    expect(missing, how).toEqual([]);
    const twice = personal.map(({ table }) => table).filter((table, at, all) => all.indexOf(table) !== at);
    expect(twice).toEqual([]);
  });

  it('no secret is exported', async () => {
    const columns = await columnsOf();
    const secret = columns
      .filter(({ table, name, type }) => {
        // Bytes that are shown as what they say are not just bytes.
        const isOpened = personal.some((each) => each.table === table && each.opened !== undefined);
        return (type === 'bytea' && !isOpened) || /hash|secret|sealed|password|token/.test(name);
      })
      .filter(({ table, name }) =>
        personal.some((each) => each.table === table && each.rows !== null && !each.without?.includes(name)),
      );
    expect(secret, 'name it in `without`, in the personal.ts of its room').toEqual([]);
    const gone = personal.flatMap(({ table, without = [] }) =>
      without
        .filter((column) => !columns.some((each) => each.table === table && each.name === column))
        .map((column) => `${table}.${column}`),
    );
    expect(gone, 'there is no such column').toEqual([]);
  });

  function columnsOf() {
    return sql<{ table: string; name: string; type: string }>(
      product,
      `select c.table_name as table, c.column_name as name, c.data_type as type from information_schema.columns c
       join information_schema.tables t using (table_schema, table_name)
       where c.table_schema = 'public' and t.table_type = 'BASE TABLE' order by 1, 2`,
    );
  }

  it('every route is in the description', async () => {
    const { body } = await product.nobody.get('/openapi.json');
    const described = Object.entries(body.paths as Record<string, object>).flatMap(([url, operations]) =>
      Object.keys(operations).map((method) => `${method.toUpperCase()} ${url}`),
    );
    const declared = listRoutes(allRoutes).map(
      ({ method, path: url }) => `${method} ${url.replaceAll(/:(\w+)/g, '{$1}')}`,
    );
    expect(declared.filter((route) => !described.includes(route))).toEqual([]);
    expect(new Set(declared).size).toBe(declared.length);
  });
});

/** Tables that a statement inserts into, updates or deletes from. Names after `with` are not tables, nor `of x`. */
function writtenBy(text: string): string[] {
  return [
    ...text.matchAll(/\b(?:insert\s+into|delete\s+from|(?<!for\s+|for\s+no\s+key\s+|do\s+)update)\s+(\w+)/g),
  ].map((match) => match[1] ?? '');
}

/** A name may end in a star. */
function isNamed(table: string, name: string): boolean {
  return name.endsWith('*') ? table.startsWith(name.slice(0, -1)) : table === name;
}

function readBy(text: string): string[] {
  return [...text.matchAll(/\b(?:from|join)\s+\(?(\w+)/g)].map((match) => match[1] ?? '');
}
