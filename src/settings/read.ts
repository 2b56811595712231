import type { Static, TObject } from 'typebox';
import { type Context, forMany, statement, type TxContext } from '../platform/index.ts';
import type { AnySection, Section } from './section.ts';

interface SectionRow {
  section: string;
  fields: Record<string, unknown>;
}

const sectionFields = forMany(
  statement<SectionRow, { section: string }>(
    'settings.section',
    'select section, fields from settings where section = :section',
  ),
  { section: 'text' },
);
const everySection = statement<SectionRow>('settings.all', 'select section, fields from settings');
// A section that nobody has set yet has no row to lock.
const lock = statement<{ locked: number }>(
  'settings.lock',
  `select 1 as locked from pg_advisory_xact_lock(hashtextextended('settings', 0))`,
);

/** What a section says now: what staff has set, and the defaults for the rest. */
export async function readSettings<Shape extends TObject>(
  ctx: Context,
  section: Section<Shape>,
): Promise<Static<Shape>> {
  const row = await ctx.db.maybe(sectionFields, { section: section.name });
  return inEffect(section as unknown as AnySection, row?.fields) as Static<Shape>;
}

/** The same of several sections, by their names. */
export async function readEverySection(ctx: Context, sections: readonly AnySection[]) {
  const rows = await ctx.db.many(everySection);
  const settings = sections.map((section) => {
    const row = rows.find((each) => each.section === section.name);
    return [section.name, inEffect(section, row?.fields)] as const;
  });
  return { settings: Object.fromEntries(settings) };
}

/** Nobody changes any of them until the transaction ends. */
export async function lockSettings(tx: TxContext): Promise<void> {
  await tx.db.one(lock);
}

// A field that an earlier version knew may still be in the row: only those of today count.
function inEffect(section: AnySection, set: Record<string, unknown> = {}): Record<string, unknown> {
  const fields = Object.entries(section.defaults as Record<string, unknown>);
  return Object.fromEntries(fields.map(([name, value]) => [name, name in set ? set[name] : value]));
}
