import { type Statement, statement } from '../database/index.ts';
import type { ListDefinition, SortKey } from './listDefinition.ts';

type Values = Record<string, unknown>;

/** The statements of one order with one choice of filters. */
export interface Statements<Row> {
  count: Statement<{ total: number }, Values>;
  /** By page, by page far down, and after a place: so that the plan of the last is a range of the index. */
  first: Statement<Row, Values>;
  deep: Statement<Row, Values>;
  next: Statement<Row, Values>;
  keys: SortKey<Row>[];
}

/** By which of its texts a row was found, as the database has it: nobody else makes small letters of all scripts as it does. */
export const foundWord = 'found_word';
const sought = 'lower(:search::text)';
// Texts that begin so end before the last character there is.
const soughtEnd = `${sought} || chr(1114111)`;

const countCap = 10_000;
const searchCountCap = 1_000;

/** What a list reads with, by its order and filters: `-created_at.status`. */
export function declareOrders<Row>(definition: ListDefinition<Row>): [string, Statements<Row>][] {
  const { name, from, select, key, sorts } = definition;
  return choicesOf(definition).flatMap(([filters, where]) => {
    const count = statement<{ total: number }, Values>(
      [name, 'count', ...filters].join('.'),
      definition.numbered && filters.length === 0
        ? `select coalesce(max(${key.by}), 0)::bigint as total from ${from} where ${where}`
        : counted(`select 1 from ${from} where ${where}`, definition.countCap ?? countCap),
    );
    return Object.entries(sorts).flatMap(([sort, by]) =>
      ['-', ''].map((direction): [string, Statements<Row>] => {
        const keys = by === null ? [key] : [by, key];
        const order = keys.map((each) => `${each.by}${direction && ' desc'}`).join(', ');
        const beyond = `(${keys.map((each) => each.by)}) ${direction ? '<' : '>'} (${places(keys)})`;
        const mode = [`${direction}${sort}`, ...filters].join('.');
        const page = `where ${where} order by ${order} limit :limit offset :offset`;
        const first = `${select} ${page}`;
        // Rows that are passed over are counted in the index alone; nothing of theirs is joined or computed.
        const deep = `${select} where ${where} and ${key.by} = any (array(select ${key.by} from ${from} ${page}))
           order by ${order}`;
        const next = `${select} where ${where} and ${beyond} order by ${order} limit :limit`;
        return [
          mode,
          {
            ...{ count, keys },
            first: statement(`${name}.first.${mode}`, first),
            deep: statement(`${name}.deep.${mode}`, deep),
            next: statement(`${name}.next.${mode}`, next),
          },
        ];
      }),
    );
  });
}

/** The same for `search`: what begins with a text, in the order of what was found and then of the key. */
export function declareSearches<Row>(definition: ListDefinition<Row>): [string, Statements<Row>][] {
  const { name, from, key, search } = definition;
  if (!search) return [];
  const select = definition.select.replace(/^\s*select\s/, `select found.word as ${foundWord}, `);
  return choicesOf(definition).map(([filters, where]) => {
    const mode = ['search', ...filters].join('.');
    // One range of an index for each text; a row is found once, by the first of its texts.
    const found = (columns: string, rest: (by: string) => string) =>
      search
        .map(({ by }, index) => {
          const before = search
            .slice(0, index)
            // What has no such text does not begin with it either.
            .map((each) => ` and starts_with(${each.by}, ${sought}) is not true`);
          return `(select ${columns.replace('word', `${by} as word`)} from ${from} where ${where}
            and ${by} >= ${sought} and ${by} < ${soughtEnd}${before.join('')} ${rest(by)})`;
        })
        .join(' union all ');
    const rows = (condition: (by: string) => string, most: string, offset: string) =>
      `${select} join (
         select * from (${found(`${key.by} as key, word`, (by) => `${condition(by)} order by ${by}, ${key.by} limit ${most}`)})
         words order by word, key limit :limit ${offset}) found on found.key = ${key.by}
       where ${where} order by found.word, found.key`;
    const beyond = (by: string) => `and (${by}, ${key.by}) > (:after0, :after1)`;
    const first = statement<Row, Values>(
      `${name}.first.${mode}`,
      rows(() => '', ':limit::bigint + :offset::bigint', 'offset :offset'),
    );
    return [
      mode,
      {
        ...{ keys: [key], first, deep: first },
        count: statement(
          `${name}.count.${mode}`,
          counted(
            found('1', () => `limit ${searchCountCap}`),
            searchCountCap,
          ),
        ),
        next: statement(`${name}.next.${mode}`, rows(beyond, ':limit', '')),
      },
    ];
  });
}

function counted(rows: string, cap: number): string {
  return `select count(*)::int as total from (select 1 from (${rows}) found limit ${cap}) counted`;
}

function places<Row>(keys: SortKey<Row>[]): string {
  return keys.map(({ type }, index) => `:after${index}::${type}`).join(', ');
}

/** Every choice of filters, and the condition it makes together with what always holds. */
function choicesOf<Row>({ within = 'true', filters = {} }: ListDefinition<Row>): [string[], string][] {
  let choices: string[][] = [[]];
  for (const name of Object.keys(filters)) choices = choices.concat(choices.map((some) => [...some, name]));
  return choices.map((names) => [names, [within, ...names.map((name) => filters[name])].join(' and ')]);
}
