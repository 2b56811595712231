import type { Context } from '../platform/index.ts';
import { departmentsOf } from './settings.ts';

/** Whom customers can turn to, and whom staff can give a ticket to; without what only the settings are read for. */
export async function listDepartments(ctx: Context) {
  const departments = await departmentsOf(ctx);
  return { departments: departments.map(({ slug, name, description }) => ({ slug, name, description })) };
}
