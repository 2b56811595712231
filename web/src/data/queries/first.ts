import { isBegun } from '../begun.ts';
import { needs } from './needs.ts';
import { service, services } from './services.ts';
import { queryClient } from './session.ts';

/** What the first script begins to read for pages, see `start.ts`, is put where pages look for it, before one is drawn. */
export async function readFirst(): Promise<void> {
  const [, id = ''] = /^\/services\/(\d+)/.exec(window.location.pathname) ?? [];
  const reads = {
    '/dashboard/services?limit=50': () => queryClient.prefetchInfiniteQuery(services()),
    '/dashboard/services?status=active&limit=50': () =>
      queryClient.prefetchInfiniteQuery(services({ status: 'active' })),
    '/dashboard/attention': () => queryClient.prefetchQuery(needs),
    [`/dashboard/services/${id}`]: () => queryClient.prefetchQuery(service(Number(id))),
  };
  const wanted = Object.entries(reads).filter(([target]) => isBegun(`/api${target}`));
  await Promise.all(wanted.map(([, read]) => read()));
}
