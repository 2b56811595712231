import fs from 'node:fs/promises';
import path from 'node:path';
import pg from 'pg';
import { asideEnding, filesOfDataDir, namesOfKept, type Places, placeOf } from './make.ts';
import { withSession } from './session.ts';

/** What restores with `--replace` have put aside. */
export interface Aside {
  schemas: { name: string; bytes: number }[];
  /** Absolute paths. */
  files: string[];
}

/** The ending of everything that a restore at this moment puts aside; a schema's whole name. */
export function nameAside(now: Date): string {
  return `before_restore_${now.toISOString().slice(0, 19).replaceAll(/[-:]/g, '').toLowerCase()}`;
}

export async function listAside(url: string, places: Places): Promise<Aside> {
  const schemas = await withSession(url, 'public', async (client) => {
    const { rows } = await client.query<{ name: string; bytes: string }>(
      `select n.nspname as name, coalesce(sum(pg_total_relation_size(c.oid)), 0)::text as bytes
       from pg_namespace n left join pg_class c on c.relnamespace = n.oid and c.relkind = 'r'
       where n.nspname like 'before\\_restore\\_%' group by 1 order by 1`,
    );
    return rows.map(({ name, bytes }) => ({ name, bytes: Number(bytes) }));
  });
  const files: string[] = [];
  for (const name of filesOfDataDir) {
    const place = placeOf(places, name);
    const beside = await fs.readdir(path.dirname(place)).catch(() => []);
    for (const each of beside.toSorted()) {
      const start = `${path.basename(name)}.`;
      if (each.startsWith(start) && asideEnding.test(each)) files.push(path.join(path.dirname(place), each));
    }
  }
  for (const name of await namesOfKept(places.filesDir)) {
    if (asideEnding.test(name)) files.push(placeOf(places, name));
  }
  return { schemas: schemas.filter(({ name }) => asideEnding.test(name)), files };
}

/** Deletes it for good. Nothing that is in use refers to it. */
export async function dropAside(url: string, { schemas, files }: Aside): Promise<void> {
  await withSession(url, 'public', async (client) => {
    for (const { name } of schemas) await client.query(`drop schema ${pg.escapeIdentifier(name)} cascade`);
  });
  for (const file of files) await fs.rm(file, { force: true });
}
