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

type Module = Record<string, unknown>;

function page<const Path extends string, M extends Module>(
  path: Path,
  load: () => Promise<M>,
  name: keyof M & string,
) {
  const component = lazyRouteComponent(load as () => Promise<Record<string, () => null>>, name);
  return createRoute({ getParentRoute: () => staffHouse, path, validateSearch: words, component });
}

/** Staff's part of the list of pages. */
export const staffPages = [
  page('/staff', () => import('./attention/staff/Today.tsx'), 'Today'),
  page('/staff/tickets', () => import('./tickets/staff/Queue.tsx'), 'Queue'),
  page('/staff/tickets/$tid', () => import('./tickets/staff/Ticket.tsx'), 'Ticket'),
  page('/staff/unclaimed-mails', () => import('./tickets/staff/Unclaimed.tsx'), 'Unclaimed'),
  page('/staff/unclaimed-mails/$id', () => import('./tickets/staff/UnclaimedMail.tsx'), 'UnclaimedMail'),
  page('/staff/canned-replies', () => import('./tickets/staff/CannedReplies.tsx'), 'CannedReplies'),
  page('/staff/organizations', () => import('./organizations/staff/Organizations.tsx'), 'Organizations'),
  page('/staff/organizations/$id', () => import('./organizations/staff/Organization.tsx'), 'Organization'),
  page('/staff/users', () => import('./account/staff/Users.tsx'), 'Users'),
  page('/staff/users/$id', () => import('./account/staff/User.tsx'), 'User'),
  page('/staff/services', () => import('./services/staff/StaffServices.tsx'), 'StaffServices'),
  page('/staff/services/$id', () => import('./services/staff/StaffService.tsx'), 'StaffService'),
  page('/staff/invoices', () => import('./billing/staff/StaffInvoices.tsx'), 'StaffInvoices'),
  page('/staff/invoices/$id', () => import('./billing/staff/StaffInvoice.tsx'), 'StaffInvoice'),
  page('/staff/settings/brand', () => import('./settings/Brand.tsx'), 'Brand'),
] as const;
