import pg from 'pg';
import { allStatements } from '../src/platform/database/index.ts';

interface Plan {
  'Shared Hit Blocks': number;
  'Shared Read Blocks': number;
}

/** Pages that a statement reads: with a plan made for these values, and with one that is made once for all. */
export async function pagesOf(
  { databaseUrl }: { databaseUrl: string },
  name: string,
  values: Record<string, string>,
): Promise<number[]> {
  const asked = allStatements().find((each) => each.name === name);
  if (asked === undefined) throw new Error(`there is no statement ${name}`);
  const given = asked.names.map((parameter) => `'${values[parameter]}'`).join(', ');
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  const pages: number[] = [];
  await client.query(`prepare asked as ${asked.text}`);
  for (const mode of ['force_custom_plan', 'force_generic_plan']) {
    await client.query(`set plan_cache_mode = ${mode}`);
    await client.query('begin');
    const { rows } = await client.query(`explain (analyze, buffers, format json) execute asked(${given})`);
    await client.query('rollback');
    const [{ Plan: plan }] = rows[0]['QUERY PLAN'] as [{ Plan: Plan }];
    pages.push(plan['Shared Hit Blocks'] + plan['Shared Read Blocks']);
  }
  await client.end();
  return pages;
}
