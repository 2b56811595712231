import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { staffRoles } from '../src/account/index.ts';
import { allRoutes } from '../src/api.ts';
import { listRoutes, type Route } from '../src/platform/http/index.ts';

const document = path.join(import.meta.dirname, '../docs/operations/staff.md');

/** What a role may do of a group of routes. */
function cell(of: Route[], role: string): string {
  const may = of.filter((route) => route.staffRoles?.includes(role) ?? true);
  if (may.length === 0) return '';
  if (may.length === of.length) return 'all';
  return may.every((route) => route.method === 'GET') ? 'read' : 'some';
}

it('the table of what each role of staff may do is what the routes say', () => {
  const routes = listRoutes(allRoutes).filter((route) => route.auth === 'staff');
  const tags = [...new Set(routes.map(({ tag }) => tag))].sort();
  const rows = tags.map((tag) => {
    const of = routes.filter((route) => route.tag === tag);
    return [tag.replace('Staff: ', ''), ...staffRoles.map((role) => cell(of, role))];
  });
  const lineOf = (cells: string[]) => `|${cells.map((each) => (each === '' ? ' ' : ` ${each} `)).join('|')}|`;
  const head = ['', ...staffRoles];
  const lines = [lineOf(head), `|${head.map(() => '---').join('|')}|`, ...rows.map(lineOf)];
  expect(readFileSync(document, 'utf8')).toContain(lines.join('\n'));
});
