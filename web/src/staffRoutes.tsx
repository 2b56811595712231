import { createRoute, lazyRouteComponent, redirect } from '@tanstack/react-router';
import { requireSignedIn, root } from './root.tsx';
import { StaffHouse } from './StaffHouse.tsx';
import { Center, Loader } from './ui/index.ts';

/** The provider's side of the dashboard; others are sent to theirs. */
export const staffHouse = createRoute({
  getParentRoute: () => root,
  id: 'staff-house',
  beforeLoad: async ({ location }) => {
    const { staff } = await requireSignedIn(location.href);
    if (staff === null) throw redirect({ to: '/' });
  },
  pendingComponent: () => (
    <Center h="60vh">
      <Loader />
    </Center>
  ),
  component: StaffHouse,
});

/** What lists are filtered by. */
export type Words = Readonly<Record<string, string | number | undefined>>;

function words(search: Record<string, unknown>): Words {
  const isWord = (value: unknown) => typeof value === 'string' || typeof value === 'number';
  return Object.fromEntries(Object.entries(search).filter(([, value]) => isWord(value))) as Words;
}

function page<const Path extends string>(path: Path, component: ReturnType<typeof lazyRouteComponent>) {
  return createRoute({ getParentRoute: () => staffHouse, path, validateSearch: words, component });
}

/** Staff's part of the list of pages. */
export const staffPages = [
  page(
    '/staff',
    lazyRouteComponent(() => import('./attention/staff/Today.tsx'), 'Today'),
  ),
] as const;
