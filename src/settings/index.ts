/**
 * What staff decides of how the company runs, while it runs: who the company is, how invoices are numbered, when
 * customers are reminded. `brand/` is how the company looks to them. Each room declares a section of its own; staff reads and changes all of them in one place.
 * What the environment says of a process is its configuration, and not kept here.
 */

export { pictureFile } from './brand/pictures.ts';
export { isOpenToAll, type ReadLook } from './brand/read.ts';
export { brandRoutes, brandStaffRoutes } from './brand/routes.ts';
export { brand, familyOf } from './brand/section.ts';
export { settingsChanged } from './events.ts';
export { settingsPersonal } from './personal.ts';
export { readSettings } from './read.ts';
export { type AnySection, type Section, settings } from './section.ts';
export { settingsStaffRoutes } from './staffRoutes.ts';
