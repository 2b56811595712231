import type { FastifyInstance } from 'fastify';
import { fail } from '../errors.ts';
import { nearPath } from './nearPath.ts';
import type { Route } from './route.ts';
import { isPageOfSite } from './site.ts';
import type { Serve } from './webFiles.ts';

interface Path {
  pattern: RegExp;
  methods: Set<string>;
}

/**
 * Answers what no route does: a page of the site with its `home`, OPTIONS with the methods of the path, another method
 * with 405, the rest with 404.
 */
export function serveUnanswered(app: FastifyInstance, routes: readonly Route[], home: Serve | null): void {
  const paths = pathsOf(routes);
  const known = [...new Set(routes.map((route) => `/api${route.path}`))];
  app.setNotFoundHandler((request, reply) => {
    if (home !== null && isPageOfSite(request)) return home(request, reply);
    const path = request.url.split('?', 1)[0] ?? '';
    const methods = new Set(
      paths.filter(({ pattern }) => pattern.test(path)).flatMap((each) => [...each.methods]),
    );
    if (methods.size === 0) throw unknownPath(path, known);
    const allowed = [...methods].sort().join(', ');
    reply.header('allow', allowed);
    if (request.method === 'OPTIONS') return reply.code(204).send();
    throw fail('method_not_allowed', { message: `This path answers ${allowed}; see /api/docs` });
  });
}

function unknownPath(path: string, known: readonly string[]) {
  const meant = nearPath(path, known);
  if (meant === null) return fail('route_not_found');
  const slash =
    path.endsWith('/') && path.replace(/\/+$/, '') === meant ? ', without the slash at its end' : '';
  return fail('route_not_found', {
    message: `There is no such endpoint; did you mean ${meant}${slash}? See /api/docs`,
  });
}

function pathsOf(routes: readonly Route[]): Path[] {
  const paths = new Map<string, Path>();
  for (const { path, method, produces } of routes) {
    const known = paths.get(path) ?? {
      pattern: new RegExp(`^/api${path.replaceAll('.', '\\.').replaceAll(/:\w+/g, '[^/]+')}$`),
      methods: new Set(['OPTIONS']),
    };
    known.methods.add(method);
    if (method === 'GET' && produces !== 'text/event-stream') known.methods.add('HEAD');
    paths.set(path, known);
  }
  return [...paths.values()];
}
