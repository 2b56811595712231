import { infiniteQueryOptions, QueryCache, QueryClient, queryOptions } from '@tanstack/react-query';
import { ApiError, type Schema } from '../../../client/index.ts';
import { client } from './client.ts';
import { chooseOrganization, chosenOrganization } from './organization.ts';
import { mayBeSignedIn, rememberSignedIn } from './signedIn.ts';

/** What was read stays until an event says that it has changed; see `events.ts`. */
export const queryClient = new QueryClient({
  queryCache: new QueryCache({
    // The session has ended: whoever looks signs in again, and goes on where they were.
    onError: (error, query) => {
      const isOver = error instanceof ApiError && error.status === 401 && query.queryKey[0] !== 'session';
      if (isOver) void queryClient.invalidateQueries({ queryKey: ['session'] });
    },
  }),
  defaultOptions: {
    // The client itself waits and asks again where that is of use.
    queries: { staleTime: Number.POSITIVE_INFINITY, retry: false, refetchOnWindowFocus: false },
    mutations: { retry: false },
  },
});

export interface Session {
  user: Schema<'Account'>['user'];
  preferences: Schema<'Account'>['preferences'];
  organizations: readonly Schema<'Organization'>[];
  /** The one whose things are shown; null for whoever is in none. */
  organization: Schema<'Organization'> | null;
}

/** Who is signed in and for whom they act; null for nobody. */
export const session = queryOptions({
  queryKey: ['session'],
  queryFn: async (): Promise<Session | null> => {
    if (!mayBeSignedIn()) return null;
    try {
      const [{ user, preferences }, { organizations }] = await Promise.all([
        client.get('/dashboard/account'),
        client.get('/dashboard/organizations', { query: { limit: 100 } }),
      ]);
      const organization = organizations.find(({ id }) => id === chosenOrganization()) ?? organizations[0];
      chooseOrganization(organization?.id ?? null);
      return { user, preferences, organizations, organization: organization ?? null };
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 401) throw error;
      rememberSignedIn(false);
      return null;
    }
  },
});

export interface ServiceFilter {
  status?: Schema<'ServiceStatus'>;
  search?: string;
}

export const services = (filter: ServiceFilter = {}) =>
  infiniteQueryOptions({
    queryKey: ['services', 'list', filter],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam: cursor, signal }) =>
      client.get('/dashboard/services', {
        query: { ...filter, limit: 50, ...(cursor && { cursor }) },
        signal,
      }),
    getNextPageParam: ({ next_cursor: next }) => next ?? undefined,
  });

export const service = (id: number) =>
  queryOptions({
    queryKey: ['services', id],
    queryFn: async ({ signal }) =>
      (await client.get('/dashboard/services/{id}', { path: { id }, signal })).service,
  });

export const machine = (id: number) =>
  queryOptions({
    queryKey: ['vps', id],
    queryFn: async ({ signal }) =>
      (await client.get('/dashboard/service/{id}/vps/overview', { path: { id }, signal })).vps,
  });

export const machineHistory = (id: number) =>
  queryOptions({
    queryKey: ['vps', id, 'history'],
    queryFn: async ({ signal }) =>
      client.get('/dashboard/service/{id}/vps/history', { path: { id }, query: { limit: 10 }, signal }),
  });

export const invoices = (filter: { status?: Schema<'InvoiceStatus'> } = {}) =>
  infiniteQueryOptions({
    queryKey: ['invoices', 'list', filter],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam: cursor, signal }) =>
      client.get('/dashboard/invoices', {
        query: { ...filter, limit: 25, ...(cursor && { cursor }) },
        signal,
      }),
    getNextPageParam: ({ next_cursor: next }) => next ?? undefined,
  });

export const invoice = (id: number) =>
  queryOptions({
    queryKey: ['invoices', id],
    queryFn: async ({ signal }) =>
      (await client.get('/dashboard/invoices/{id}', { path: { id }, signal })).invoice,
  });

export const paymentMethods = queryOptions({
  queryKey: ['payment-methods'],
  queryFn: async ({ signal }) => (await client.get('/dashboard/payment-methods', { signal })).payment_methods,
});

export const tickets = (filter: { status?: Schema<'TicketStatus'> } = {}) =>
  infiniteQueryOptions({
    queryKey: ['tickets', 'list', filter],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam: cursor, signal }) =>
      client.get('/dashboard/tickets', {
        query: { ...filter, limit: 25, ...(cursor && { cursor }) },
        signal,
      }),
    getNextPageParam: ({ next_cursor: next }) => next ?? undefined,
  });

export const ticket = (tid: string) =>
  queryOptions({
    queryKey: ['tickets', tid],
    queryFn: async ({ signal }) =>
      (await client.get('/dashboard/tickets/{tid}', { path: { tid }, signal })).ticket,
  });

export const departments = queryOptions({
  queryKey: ['departments'],
  queryFn: async ({ signal }) => (await client.get('/dashboard/tickets/departments', { signal })).departments,
});

/** Of somebody else, or of another organization: nothing that was read is shown any more. */
export async function startOver(): Promise<void> {
  queryClient.clear();
  await queryClient.fetchQuery(session);
}
