import type { House } from './house.ts';
import { asking, type ListOptions, listFigure, turns } from './list.ts';
import type { Access, Person } from './people.ts';
import type { Figure } from './table.ts';

const small = 1_000;
const limit = 25;

/** Pages of the activity of an organization in which much happened against those of one in which little did. */
export async function measureActivity(
  { house, access, people }: { house: House; access: Access; people: readonly Person[] },
  options: ListOptions,
): Promise<Figure[]> {
  const [few, many] = people.slice(-2);
  if (!few || !many) throw new Error('nobody to list for');
  const [ofFew, ofMany] = [await happen(access, few, small), await happen(access, many, options.rows)];
  await access.sql('vacuum analyze journal');
  const askers = people.slice(0, 400);
  await access.sql(
    `insert into memberships (organization_id, user_id, role, joined_at)
     select o, u, 'admin', now() from unnest($1::bigint[]) o, unnest($2::bigint[]) u
     on conflict (organization_id, user_id) do update set role = 'admin'`,
    [[few.organizationId, many.organizationId], askers.map(({ userId }) => userId)],
  );
  const ask = asking(
    house.url,
    askers,
    (organizationId, query) =>
      `/api/dashboard/organizations/${organizationId}/activity?limit=${limit}&${query}`,
  );
  const kinds: [name: string, few: string, many: string][] = [
    ['first page', 'page=1', 'page=1'],
    ['deepest page by cursor', `cursor=${ofFew}`, `cursor=${ofMany}`],
  ];
  const figures: Figure[] = [];
  for (const [name, atFew, atMany] of kinds) {
    const taken = await turns(
      house,
      options,
      () => ask(few.organizationId, atFew),
      () => ask(many.organizationId, atMany),
    );
    figures.push(
      listFigure(
        `Activity, ${name}`,
        `${options.rows.toLocaleString('en')} entries in the organization against ${small.toLocaleString('en')}`,
        taken,
      ),
    );
  }
  return figures;
}

/** So many entries, one a second up to now; returns the cursor of the last page. */
async function happen(access: Access, who: Person, count: number): Promise<string> {
  await access.sql(
    `insert into journal (organization_id, action, subject_type, subject_id, actor_type, user_id, ip, data, created_at)
     select $1, 'service.note_changed', 'service', i % 1000, 'user', $2, '192.0.2.1', '{}',
       date_trunc('second', now()) - ($3::bigint - i) * interval '1 second'
     from generate_series(1, $3::bigint) i`,
    [who.organizationId, who.userId, count],
  );
  const { rows } = await access.sql(
    'select created_at, id from journal where organization_id = $1 order by created_at, id offset $2 limit 1',
    [who.organizationId, limit],
  );
  const { created_at: at, id } = rows[0] as { created_at: Date; id: string | number };
  return Buffer.from(JSON.stringify([at.toISOString(), Number(id)])).toString('base64url');
}
