import type { House } from './house.ts';
import { asking, type ListOptions, listFigure, turns } from './list.ts';
import { type Access, firstId, openAccess, settle } from './people.ts';
import type { Figure } from './table.ts';

const small = 1_000;
const limit = 25;

interface Desk {
  house: House;
  access: Access;
}

/** Who asks, on a product whose organization has so many tickets. */
interface Filled {
  organizationId: number;
  ofCustomer(path: string): () => Promise<number>;
  ofStaff(path: string): () => Promise<number>;
  /** Of the last page of its tickets, of its queue. */
  cursors: { list: string; queue: string };
}

/**
 * What customers and staff find among a million tickets, all of one organization, against the same on a product with a thousand.
 * Half of them are closed, as they are in a house that answers.
 */
export async function measureTickets(few: Desk, many: Desk, options: ListOptions): Promise<Figure[]> {
  const [atFew, atMany] = [await fill(few, small), await fill(many, options.rows)];
  const kinds: [name: string, who: 'ofCustomer' | 'ofStaff', query: (at: Filled) => string][] = [
    ['list, first page', 'ofCustomer', () => 'page=1'],
    ['list, deepest page by cursor', 'ofCustomer', ({ cursors }) => `cursor=${cursors.list}`],
    ['list of those in one state', 'ofCustomer', () => 'status=answered'],
    ['search that finds all', 'ofCustomer', () => 'search=server'],
    ['search that finds a few', 'ofCustomer', () => 'search=rare'],
    ['search that finds none', 'ofCustomer', () => 'search=nothing'],
    ['queue, first page', 'ofStaff', () => 'page=1'],
    ['queue, deepest page by cursor', 'ofStaff', ({ cursors }) => `cursor=${cursors.queue}`],
    ['queue of a department', 'ofStaff', () => 'department=billing'],
    ['queue, search that finds all', 'ofStaff', () => 'search=server'],
    ['queue, search that finds a few', 'ofStaff', () => 'search=rare'],
  ];
  const figures: Figure[] = [];
  for (const [name, who, query] of kinds) {
    const houses = { few: few.house, many: many.house };
    const taken = await turns(houses, options, atFew[who](query(atFew)), atMany[who](query(atMany)));
    figures.push(
      listFigure(
        `Tickets, ${name}`,
        `${options.rows.toLocaleString('en')} tickets in the house against ${small.toLocaleString('en')}`,
        taken,
      ),
    );
  }
  return figures;
}

/** Opens a product's database, and makes somebody who asks. */
export async function openDesk(house: House): Promise<Desk> {
  return { house, access: await openAccess(house) };
}

async function fill({ house, access }: Desk, count: number): Promise<Filled> {
  const [person] = await settle(access, 1);
  if (person === undefined) throw new Error('nobody to have tickets');
  const { organizationId, userId } = person;
  await access.sql('drop index if exists ticket_words_words');
  // Each a minute after the one before; eleven of them have a word that no other has.
  await access.sql(
    `insert into tickets (id, organization_id, tid, user_id, subject, department, priority, status, created_at, last_reply_at,
       closed_at, used_ms, due_at)
     select $1::bigint + i, $2, 'b' || i, $3, 'Server web' || i || ' does not answer',
       case when i % 3 = 0 then 'billing' else 'support' end, 'medium',
       case when i % 2 = 0 then 'closed' when i % 4 = 1 then 'answered' else 'on_hold' end,
       at, at, case when i % 2 = 0 then at end, 0, at + interval '4 hours'
     from (select i, timestamptz '2020-01-01' + i * interval '1 minute' as at from generate_series(1, $4::bigint) i) each`,
    [firstId, organizationId, userId, count],
  );
  await access.sql(
    `insert into ticket_messages (id, organization_id, ticket_id, kind, user_id, message, created_at)
     select id, organization_id, id, 'customer', user_id, 'Since this morning it does not answer on port 22.', created_at
     from tickets where organization_id = $1`,
    [organizationId],
  );
  await access.sql(
    `insert into ticket_words (ticket_id, organization_id, words)
     select $1::bigint + i, $2, array_to_tsvector(array_agg(scope || word))
     from generate_series(1, $3::bigint) i cross join unnest($4::text[]) scope
     cross join lateral unnest(array['server', 'web' || i, 'b' || i, 'answer', 'morning', 'port', '22', 'topic' || i % 1000]
       || case when i % ($3::bigint / 11) = 0 then array['rare'] else array[]::text[] end) word
     group by i`,
    [firstId, organizationId, count, ['s:', `${organizationId.toString(36)}:`]],
  );
  await access.sql(
    'create index ticket_words_words on ticket_words using gin (words) with (fastupdate = off)',
  );
  await access.sql('vacuum analyze tickets, ticket_messages, ticket_words');
  const staff = { ...person, token: house.demo.staff.api_key };
  const asCustomer = asking(
    house.url,
    [person],
    (_, query) => `/api/dashboard/tickets?limit=${limit}&${query}`,
  );
  const asStaff = asking(house.url, [staff], (_, query) => `/api/staff/tickets?limit=${limit}&${query}`);
  return {
    organizationId,
    ofCustomer: (query) => () => asCustomer(organizationId, query),
    ofStaff: (query) => () => asStaff(organizationId, query),
    cursors: {
      list: await cursorOf(access, 'last_reply_at', 'organization_id = $1 and merged_into is null', 'asc', [
        organizationId,
      ]),
      queue: await cursorOf(access, 'due_at', `status <> 'closed'`, 'desc', []),
    },
  };
}

/** Behind which the last page stands. */
async function cursorOf(
  access: Access,
  by: string,
  where: string,
  order: string,
  values: unknown[],
): Promise<string> {
  const { rows } = await access.sql(
    `select ${by} as at, id from tickets where ${where} order by ${by} ${order}, id ${order} offset ${limit} limit 1`,
    values,
  );
  const { at, id } = rows[0] as { at: Date; id: string | number };
  return Buffer.from(JSON.stringify([at.toISOString(), Number(id)])).toString('base64url');
}
