import type { Static, TObject } from 'typebox';

/** A part of the settings, declared by the room that goes by it. */
export interface Section<Shape extends TObject = TObject> {
  /** Its field in the answer and in a change. */
  name: string;
  about: string;
  shape: Shape;
  /** What counts until staff says otherwise, field by field. */
  defaults: Static<Shape>;
  /** What a provider may have set, for the description of the API. */
  example: Static<Shape>;
  /** What is wrong with the whole, though each field is right by itself; null when nothing is. */
  check?: (value: Static<Shape>) => { field: string; message: string } | null;
}

/** A section whose fields are nobody's business here. */
export type AnySection = Section;

/**
 * Declares a section:
 *
 *     export const numbering = settings({ name: 'numbering', about: 'How invoices are numbered', shape: Strict({ … }),
 *       defaults: { … }, example: { … } });
 *
 * A field that is added later needs a default, and no migration.
 */
export function settings<Shape extends TObject>(section: Section<Shape>): Section<Shape> {
  return section;
}
