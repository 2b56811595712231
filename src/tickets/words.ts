import { type Context, statement } from '../platform/index.ts';

/** What everybody of an organization finds, and what only staff does, stand in one index under scopes of their own. */
export function scopeOf(organizationId: number): string {
  return `${organizationId.toString(36)}:`;
}
export const staffScope = 's:';

/** Of one text so many different words are found by, each by its first letters; of one ticket about eight times as many. */
const mostWords = 1_000;
const mostLetters = 30;
const mostOfTicket = 6_000;

/** In SQL: the words of a text, each with its scope in front. */
const wordsOf = `
  select coalesce(array_to_tsvector(array_agg(scope || left(word, ${mostLetters}))), ''::tsvector)
  from (select word from unnest(tsvector_to_array(to_tsvector('simple', :text::text))) word limit ${mostWords}) found
  cross join unnest(:scopes::text[]) scope`;

const addWords = statement<
  never,
  { ticketId: number; organizationId: number; text: string; scopes: string[] }
>(
  'tickets.addWords',
  `insert into ticket_words (ticket_id, organization_id, words) values (:ticketId, :organizationId, (${wordsOf}))
   on conflict (ticket_id) do update set words = ticket_words.words || excluded.words
     where length(ticket_words.words) < ${mostOfTicket}`,
);

interface Found {
  id: number;
  organization_id: number;
}

/** Lets a ticket be found by a text, which its customer may read or only staff. */
export async function findBy(
  ctx: Context,
  ticket: Found,
  text: string,
  reader: 'everybody' | 'staff' = 'everybody',
): Promise<void> {
  const scopes = reader === 'staff' ? [staffScope] : [staffScope, scopeOf(ticket.organization_id)];
  await ctx.db.run(addWords, { ticketId: ticket.id, organizationId: ticket.organization_id, text, scopes });
}

/**
 * In SQL: what `:search` asks of `words`, in the scope `:scope`. All of its words have to be there; those of three letters
 * and more may go on.
 */
export const asked = `
  (select coalesce(string_agg('''' || replace(replace(:scope::text || left(word, ${mostLetters}), '\\', '\\\\'), '''', '''''')
      || '''' || case when char_length(word) > 2 then ':*' else '' end, ' & '), '')::tsquery
   from (select word from unnest(tsvector_to_array(to_tsvector('simple', :search::text))) word limit 20) word_of)`;

const merge = statement<never, { from: number; to: number }>(
  'tickets.mergeWords',
  `update ticket_words w set words = w.words || f.words from ticket_words f
   where w.ticket_id = :to and f.ticket_id = :from and length(w.words) < ${mostOfTicket}`,
);
// What is a note's is found by staff alone.
const writeAnew = statement<never, { ticketId: number; title: string; scope: string }>(
  'tickets.writeWordsAnew',
  `with texts as (
     select :title::text as text, true as open
     union all select message, kind <> 'note' from ticket_messages where ticket_id = :ticketId
   ), found as (
     select distinct left(w.word, ${mostLetters}) as word, t.open from texts t
     cross join lateral (select word from unnest(tsvector_to_array(to_tsvector('simple', t.text))) word limit ${mostWords}) w
     limit ${mostOfTicket / 2}
   ), scoped as (
     select '${staffScope}' || word as word from found union select :scope::text || word from found where open
   )
   update ticket_words set words = (select array_to_tsvector(array_agg(word)) from scoped) where ticket_id = :ticketId`,
);

/** What is found by the words of one ticket is found by those of two. */
export async function mergeWords(ctx: Context, from: number, to: number): Promise<void> {
  await ctx.db.run(merge, { from, to });
}

/** Lets a ticket be found by what is in it now, and by nothing else. */
export async function writeWordsAnew(ctx: Context, ticket: Found, title: string): Promise<void> {
  await ctx.db.run(writeAnew, { ticketId: ticket.id, title, scope: scopeOf(ticket.organization_id) });
}
