import type { FastifyInstance } from 'fastify';
import { fail } from '../errors.ts';
import type { Route } from './route.ts';

interface Path {
  pattern: RegExp;
  methods: Set<string>;
}

/** Answers what no route does: OPTIONS with the methods of the path, everything else with 404. */
export function serveUnanswered(app: FastifyInstance, routes: readonly Route[]): void {
  const paths = pathsOf(routes);
  app.setNotFoundHandler((request, reply) => {
    const path = request.url.split('?', 1)[0] ?? '';
    const methods = new Set(
      paths.filter(({ pattern }) => pattern.test(path)).flatMap((known) => [...known.methods]),
    );
    if (methods.size === 0) throw fail('route_not_found');
    reply.header('allow', [...methods].sort().join(', '));
    if (request.method !== 'OPTIONS') throw fail('method_not_allowed');
    return reply.code(204).send();
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
