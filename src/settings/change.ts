import { isDeepStrictEqual } from 'node:util';
import { record } from '../events/index.ts';
import { type Context, fail, statement, type TxContext, transaction } from '../platform/index.ts';
import { settingsChanged } from './events.ts';
import { lockSettings, readEverySection } from './read.ts';
import type { AnySection } from './section.ts';

type Fields = Record<string, unknown>;

const writeFields = statement<never, { section: string; fields: object; now: Date; userId: number | null }>(
  'settings.write',
  `insert into settings (section, fields, changed_at, changed_by) values (:section, :fields::jsonb, :now, :userId)
   on conflict (section) do update set fields = settings.fields || excluded.fields, changed_at = excluded.changed_at,
     changed_by = excluded.changed_by`,
);

/** Sets the fields that are named; the rest stays. `invalid_request` when a section would not hold together. */
export async function changeSettings(
  ctx: Context,
  sections: readonly AnySection[],
  changes: Record<string, Fields | undefined>,
) {
  return transaction(ctx, 'settings.change', async (tx) => {
    await lockSettings(tx);
    const before = (await readEverySection(tx, sections)).settings;
    for (const section of sections) {
      const change = changes[section.name];
      if (change !== undefined) await changeSection(tx, section, before[section.name] ?? {}, change);
    }
    return readEverySection(tx, sections);
  });
}

async function changeSection(tx: TxContext, section: AnySection, before: Fields, change: Fields) {
  const different = Object.keys(change).filter((name) => !isDeepStrictEqual(before[name], change[name]));
  if (different.length === 0) return;
  const problem = section.check?.({ ...before, ...change });
  if (problem) {
    const detail = { field: `${section.name}.${problem.field}`, message: problem.message };
    throw fail('invalid_request', { details: [detail] });
  }
  const part = (fields: Fields) => Object.fromEntries(different.map((name) => [name, fields[name]]));
  const { actor, clock } = tx;
  await tx.db.run(writeFields, {
    section: section.name,
    fields: part(change),
    now: clock.now(),
    userId: actor.userId,
  });
  await record(tx, settingsChanged, {
    subject: { type: 'settings', id: 1 },
    organizationId: null,
    data: { section: section.name, before: part(before), after: part(change) },
  });
}
