/** The events of the product, as customers' webhooks know them, are documented as the code has them. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { ourDescription } from '../client/description.ts';
import { allEvents, gatherReactions, type JournalEntry, messageOf, toldEvents } from '../src/events/index.ts';
import { permissionNames } from '../src/organizations/index.ts';
import { allJobs, allReactions } from '../src/worker.ts';

const root = path.join(import.meta.dirname, '..');

interface Documented {
  name: string;
  meaning: string;
  /** Names in the event's data, `?` behind those that may be absent. */
  data: string[];
}

const byName = (one: Documented, other: Documented) => one.name.localeCompare(other.name);

/** What each room's `events.ts` declares; the shapes are types, so they are read from the source. */
function declared(): Documented[] {
  const files = readdirSync(path.join(root, 'src'), { recursive: true, encoding: 'utf8' });
  const found = files
    .filter((file) => /^\w+\/events\.ts$/.test(file))
    .flatMap((file) => {
      const text = readFileSync(path.join(root, 'src', file), 'utf8');
      const calls = text.matchAll(/\bevent(?:<(\w+)>)?\(\s*'([^']+)'/g);
      return [...calls].map(([, type, name = '']) => ({ name, data: fieldsOf(text, type) }));
    });
  const meanings = new Map(allEvents().map(({ name, meaning }) => [name, meaning]));
  return found.map(({ name, data }) => ({ name, meaning: meanings.get(name) ?? '', data }));
}

function fieldsOf(text: string, type: string | undefined): string[] {
  if (type === undefined || type === 'NoData') return [];
  const [, base, body = ''] =
    new RegExp(`interface ${type}(?: extends (\\w+))? \\{\\n([^}]*(?:\\{[^}]*\\}[^}]*)*)\\n\\}`).exec(text) ??
    [];
  if (body === '') throw new Error(`declare ${type} as an interface in the room's events.ts`);
  const own = [...body.matchAll(/^ {2}(\w+\??):/gm)].map((match) => match[1] ?? '');
  return [...fieldsOf(text, base), ...own];
}

function documented(): Documented[] {
  return readFileSync(path.join(root, 'docs/events.md'), 'utf8')
    .split('\n')
    .filter((line) => /^\| *`/.test(line))
    .map((line) => line.split('|').map((cell) => cell.trim()))
    .map(([, name = '', meaning = '', data = '']) => ({
      name: name.replaceAll('`', ''),
      meaning,
      data: [...data.matchAll(/`([^`]+)`/g)].map((match) => match[1] ?? ''),
    }));
}

/** Without those that tests declare: other files ran in this process before. */
const ofProduct = () => allEvents().filter(({ name }) => !name.startsWith('test.'));

it('every event and its data are documented', () => {
  const namesOf = (events: { name: string }[]) => events.map(({ name }) => name).toSorted();
  expect(
    namesOf(declared()),
    "an event is declared in its room's events.ts, with its data as an interface: event<ThingClosed>('thing.closed', …)",
  ).toEqual(namesOf(ofProduct()));
  expect(
    documented().toSorted(byName),
    "a row of docs/events.md (+) is what the room's events.ts declares (-)",
  ).toEqual(declared().toSorted(byName));
});

/**
 * What texts in events are of, so that a new one is thought about: what somebody is known by is forgotten with their account
 * (`forget_in_journal`, in its migration; `account/closing/closing.test.ts` looks for what is left), and nothing else is about a person.
 */
const texts = {
  forgotten: [
    ...['email', 'invited_by', 'organization', 'organization_name', 'user_agent', 'name', 'fingerprint'],
    ...['ssh_keys', 'ip_allowlist', 'url', 'before', 'change'],
  ],
  /** Words of staff, who answers for them, and what the law wants kept with the books and what was agreed in writing. */
  kept: [
    // Who could sign in at a controller of ours when its server came back: it is told who was shut out.
    'accounts',
    // As which one signs in at a server with a password that we made: `root`.
    'username',
    // What was to be done with packets to an address, by words and networks of ours.
    ...['destination', 'destinations', 'preset', 'confirm_until', 'addresses'],
    ...[
      'reason',
      'reasons',
      'note',
      'in_reply_to',
      'why',
      'description',
      'subject',
      'after',
      'tax_id',
      'reference',
    ],
    ...['hostname', 'product', 'product_before', 'items', 'number', 'pay_url', 'method'],
  ],
  /** The provider's own: its staff, nodes, addresses and products. */
  providers: [
    ...['recipient', 'title', 'address', 'dns_name', 'network', 'location', 'primary_ip', 'slug', 'trouble'],
    ...[
      'engine',
      'endpoints',
      'fingerprints',
      'project',
      'version',
      'problems',
      'machine',
      'instead_of',
      'confirmed',
      'member',
    ],
    ...[
      'serial',
      'macs',
      'removed',
      'cluster',
      'installed',
      'problem',
      'port',
      'server',
      'mac',
      'model',
      'disks',
      'differences',
      // Of a controller of ours.
      'uuid',
    ],
    ...['section', 'code', 'department', 'task', 'source', 'concerns', 'options', 'gateway', 'account'],
  ],
  /** Words and numbers that the product chooses from or counts. */
  chosen: [
    ...[
      'currency',
      'tid',
      'amount',
      'price',
      'price_before',
      'prices',
      'fields',
      'duedate',
      'duedate_before',
    ],
    ...[
      'total',
      'from',
      'month',
      'cycle',
      'prefix',
      'country',
      'was',
      'valid_from',
      'valid_until',
      'role',
      'ends_at',
    ],
    ...['due', 'until', 'suspends_on', 'status', 'state', 'scopes', 'rate', 'next_try_on', 'kind', 'into'],
    ...['failing_since', 'expires_at', 'ends_on', 'effective_on', 'due_at', 'command', 'answer_by'],
    ...[
      'made_at',
      'restored_at',
      'attack_id',
      'started_at',
      'ended_at',
      'measure',
      'because',
      'blackholes',
      'health',
    ],
    ...[
      'coming_price',
      'credit',
      'credited',
      'outcome',
      'priority',
      'by',
      'error',
      'event',
      'paid_on',
      'backup_at',
      'begins_at',
      'off_at',
    ],
  ],
};

it('every text in an event is forgotten with the account of whom it is about, or kept for a reason', () => {
  const files = readdirSync(path.join(root, 'src'), { recursive: true, encoding: 'utf8' });
  const found = files
    .filter((file) => /^\w+\/events\.ts$/.test(file))
    .flatMap((file) => [
      ...readFileSync(path.join(root, 'src', file), 'utf8').matchAll(
        /^ {2}(\w+)\??: (?=[^;]*\b(?:string|object)\b)/gm,
      ),
    ])
    .map((match) => match[1] ?? '');
  const said: string[] = Object.values(texts).flat();
  expect(
    [...new Set(found)].filter((name) => !said.includes(name)),
    'say in `texts` what it is',
  ).toEqual([]);
  expect(said.filter((name, at) => said.indexOf(name) !== at)).toEqual([]);
});

it('every reaction has a job that a worker knows', () => {
  const jobs = new Set(allJobs.map(({ name }) => name));
  expect(allReactions.filter(({ job }) => !jobs.has(job.name))).toEqual([]);
});

it('two reactions to one event cannot have one name', () => {
  const [reaction] = allReactions;
  if (reaction === undefined) throw new Error('there are no reactions');
  expect(() => gatherReactions([...allReactions, reaction])).toThrow(`two reactions to ${reaction.event}`);
});

describe('what customers are told of', () => {
  // Contract §11; those of tickets and of Shield come with their rooms.
  const promised = [
    ...['invoice.created', 'invoice.paid', 'invoice.overdue', 'invoice.refunded'],
    ...['service.provisioned', 'service.failed', 'service.suspended', 'service.unsuspended'],
    ...['service.cancelled', 'service.terminated', 'service.renewed'],
    ...['vps.action.started', 'vps.action.succeeded', 'vps.action.failed'],
    ...['ticket.created', 'ticket.replied', 'ticket.closed'],
    ...['shield.attack.started', 'shield.attack.updated', 'shield.attack.ended'],
    ...['member.invited', 'member.joined', 'member.removed'],
  ];
  // Beyond the contract: what a page that shows the thing has to hear of.
  const beyond = [
    ...['invoice.part_paid', 'invoice.expired', 'invoice.cancelled', 'credit.granted'],
    ...[
      'service.updated',
      'service.upgraded',
      'service.product_changed',
      'service.traffic_used',
      'vps.recovered',
    ],
    ...['vps.move.planned', 'vps.move.ended'],
    ...['dedicated.action.started', 'dedicated.action.succeeded', 'dedicated.action.failed'],
    ...['dedicated.console.opened_by_staff', 'dedicated.moved'],
    ...['dedicated.out_of_order', 'dedicated.in_order'],
    ...['service.cancel_scheduled', 'service.cancel_revoked'],
    ...['ticket.changed', 'ticket.reopened', 'ticket.subject_changed'],
    ...['shield.mitigation.started', 'shield.mitigation.released'],
    ...['created', 'changed', 'enabled', 'disabled', 'deleted', 'expired'].map((did) => `shield.rule.${did}`),
    ...['made', 'renewed', 'deleted'].map((did) => `shield.group.${did}`),
    ...['created', 'changed', 'deleted'].map((did) => `shield.limiter.${did}`),
    ...['shield.address.changed', 'shield.addresses.given_back', 'shield.policy.applied'],
    ...['started', 'confirmed', 'cancelled'].map((did) => `shield.trial.${did}`),
  ];

  it('has the names that were promised, those that pages need, and no other', () => {
    const declaredNow = new Set(ofProduct().map(({ name }) => name));
    const expected = [...promised.filter((name) => declaredNow.has(name)), ...beyond];
    expect(toldEvents().map(({ name }) => name)).toEqual(expected.toSorted());
  });

  it('is told to those who hold a permission that there is, and stands under `webhooks` in the description', () => {
    const known = new Set<string>(permissionNames());
    expect(toldEvents().filter(({ told }) => !known.has(told.permission))).toEqual([]);
    const { webhooks } = ourDescription() as { webhooks: object };
    expect(Object.keys(webhooks)).toEqual(toldEvents().map(({ name }) => name));
  });

  it('holds no more than its schema says: neither whom a mail goes to nor the words of a driver', () => {
    const entry: JournalEntry = {
      ...{ id: 7, organizationId: 3, subject: { type: 'service', id: 5 }, createdAt: new Date(0) },
      event: 'service.failed',
      data: { reason: 'disk: /var/lib/x on node ams-1', user_id: 9 },
    };
    const message = { type: 'service.failed', timestamp: new Date(0) };
    expect(messageOf(entry)?.message).toEqual({
      ...message,
      data: { organization_id: 3, subject: { type: 'service', id: 5 } },
    });
    expect(messageOf({ ...entry, event: 'api_key.created' })).toBeNull();
    expect(messageOf({ ...entry, event: 'nothing.of_ours' })).toBeNull();
  });
});
