/**
 * Draws a page where there is no browser, with what it shows: people read it while its scripts are still on their way, which
 * then draw the same in its place. The server calls this in a thread of its own; a page is drawn at a time, from nothing but
 * what is given.
 */
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import {
  createMemoryHistory,
  createRootRoute,
  createRoute,
  createRouter,
  Outlet,
  RouterProvider,
} from '@tanstack/react-router';
import { renderToStaticMarkup } from 'react-dom/server';
import type { DataOf, OperationAt, PathOf } from '../../client/index.ts';
import { brand } from './data/brand.ts';
import { type Session, services, session } from './data/queries/index.ts';
import { House } from './House.tsx';
import { Services } from './services/Services.tsx';
import { sheetOf } from './sheet.ts';
import { speakFor } from './text/index.ts';
import { languageOf, setOffered } from './text/words.ts';
import { Branded } from './ui/Branded.tsx';

type Answer<Path extends PathOf<'get'>> = DataOf<OperationAt<'get', Path>>;

/** What the page would ask the API for. */
export interface Given {
  brand: Answer<'/brand'>;
  account: Answer<'/dashboard/account'>;
  organizations: Answer<'/dashboard/organizations'>;
  /** The one of them whose things are shown. */
  organizationId: number;
  scheme: 'light' | 'dark';
  services: Answer<'/dashboard/services'>;
}

export interface Painting {
  language: string;
  html: string;
  /** What stands at elements in `style`: a policy that allows no such attributes takes it as a sheet. */
  styles: string;
}

/** The list of services as whoever is signed in finds it at first. */
export async function paintServices(given: Given): Promise<Painting> {
  const { brand: look } = given.brand;
  setOffered(look.languages);
  const language = languageOf(given.account.preferences.language);
  const router = routerOf('/services');
  const queries = new QueryClient({ defaultOptions: { queries: { staleTime: Number.POSITIVE_INFINITY } } });
  queries.setQueryData(brand.queryKey, look);
  queries.setQueryData(session.queryKey, sessionOf(given));
  queries.setQueryData(services().queryKey, { pages: [given.services], pageParams: [{}] } as never);
  await Promise.all([speakFor(language), router.load()]);
  const drawn = renderToStaticMarkup(
    <QueryClientProvider client={queries}>
      <Branded scheme={given.scheme}>
        <RouterProvider router={router as never} />
      </Branded>
    </QueryClientProvider>,
  );
  return { language, ...sheetOf(drawn) };
}

/** Of all pages this one, below the same houses. */
function routerOf(path: string) {
  const root = createRootRoute({ component: Outlet });
  const inside = createRoute({ getParentRoute: () => root, id: 'in', component: House });
  const page = createRoute({ getParentRoute: () => inside, path: '/services', component: Services });
  return createRouter({
    routeTree: root.addChildren([inside.addChildren([page])]),
    history: createMemoryHistory({ initialEntries: [path] }),
  });
}

function sessionOf({ account, organizations, organizationId }: Given): Session {
  const { user, preferences, passkeys, staff, events_position: position } = account;
  const organization = organizations.organizations.find(({ id }) => id === organizationId) ?? null;
  return {
    ...{ user, preferences, passkeys, staff, position, organization },
    organizations: organizations.organizations,
  };
}
