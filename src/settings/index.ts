/**
 * What staff decides of how the company runs, while it runs: who the company is, how invoices are numbered, when
 * customers are reminded. Each room declares a section of its own; staff reads and changes all of them in one place.
 * What the environment says of a process is its configuration, and not kept here.
 */

export { settingsChanged } from './events.ts';
export { settingsPersonal } from './personal.ts';
export { readSettings } from './read.ts';
export { type AnySection, type Section, settings } from './section.ts';
export { settingsStaffRoutes } from './staffRoutes.ts';
