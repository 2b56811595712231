import { createRoute, createRouter, redirect } from '@tanstack/react-router';
import { nextOf } from './account/next.ts';
import { wantedOf } from './cart/wanted.ts';
import { actFor } from './data/actFor.ts';
import {
  type ActivityFilter,
  type BandwidthPeriod,
  bandwidthSteps,
  type ChartPeriod,
  chartPeriods,
  type InvoiceFilter,
  type ServiceFilter,
  type TicketFilter,
  type TrafficTime,
  type TrafficUnit,
  trafficTimes,
  trafficUnits,
} from './data/queries/index.ts';
import {
  type ConsoleKind,
  consoleKinds,
  type DeliveryState,
  deliveryStates,
  invoiceStates,
  serviceStates,
  ticketOrders,
  ticketPriorities,
  ticketStates,
} from './data/states.ts';
import { House } from './House.tsx';
import { lazyPage } from './lazyPage.tsx';
import { Overview } from './overview/Overview.tsx';
import { requireSignedIn, root } from './root.tsx';
import { Services } from './services/Services.tsx';
import { staffHouse, staffPages } from './staffRoutes.tsx';
import { Center, Loader } from './ui/index.ts';

const withToken = (search: Record<string, unknown>): { token?: string } =>
  typeof search.token === 'string' ? { token: search.token } : {};

/** Of the words of an address: the one that is known, or none. */
function oneOf<Word extends string>(words: readonly Word[], given: unknown): Word | undefined {
  return words.find((word) => word === given);
}

/** A day of an address, `2026-01-31`. */
function dayOf(given: unknown): string | undefined {
  return typeof given === 'string' && /^\d{4}-\d\d-\d\d$/.test(given) ? given : undefined;
}

/** Pages for everybody, most of them opened by a link in a mail. */
const open = [
  createRoute({
    getParentRoute: () => root,
    path: '/sign-in',
    validateSearch: ({ next, ended }: Record<string, unknown>): { next?: string; ended?: boolean } => ({
      ...(next !== undefined && { next: nextOf(next) }),
      ...(ended === true && { ended }),
    }),
    component: lazyPage(() => import('./account/SignIn.tsx'), 'SignIn'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/register',
    component: lazyPage(() => import('./account/Register.tsx'), 'Register'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/forgot-password',
    component: lazyPage(() => import('./account/links.tsx'), 'ForgotPassword'),
  }),
  ...(
    [
      ['/verify-email', 'VerifyEmail'],
      ['/reset-password', 'ResetPassword'],
      ['/confirm-email-change', 'ConfirmEmailChange'],
      ['/revoke-email-change', 'RevokeEmailChange'],
      ['/keep-second-factor', 'KeepSecondFactor'],
      ['/ticket-feedback', 'TicketFeedback'],
      ['/invitation', 'Invitation'],
    ] as const
  ).map(([path, name]) =>
    createRoute({
      getParentRoute: () => root,
      path,
      validateSearch: withToken,
      component: lazyPage(() => import('./account/links.tsx'), name),
    }),
  ),
];

/** What a ticket is begun about. */
interface About {
  /** A request that was refused. */
  request?: string;
  service?: number;
}

/** Pages of whoever is signed in; others sign in first and come back to where they wanted to go. */
const inside = createRoute({
  getParentRoute: () => root,
  id: 'in',
  beforeLoad: async ({ location, cause }) => {
    const { staff, organization } = await requireSignedIn(location.href);
    // A link in a mail says whose it is; somebody may be in several.
    const { organization: named, ...search } = location.search as { organization?: unknown };
    if (named !== undefined && cause !== 'preload') {
      await actFor(named);
      throw redirect({ to: location.pathname, search, replace: true });
    }
    // The provider's people begin with what waits for them, unless they are customers as well.
    if (staff !== null && organization === null && location.pathname === '/')
      throw redirect({ to: '/staff' });
  },
  pendingComponent: () => (
    <Center h="60vh">
      <Loader />
    </Center>
  ),
  component: House,
});

const consoleOf = ({ type }: Record<string, unknown>): { type?: ConsoleKind } => ({
  type: oneOf(consoleKinds, type),
});

/** A console that has a window to itself: nothing stands around it. */
const consoleWindow = createRoute({
  getParentRoute: () => root,
  path: '/console/$id',
  validateSearch: consoleOf,
  beforeLoad: async ({ location }) => {
    await requireSignedIn(location.href);
  },
  component: lazyPage(() => import('./vps/Console.tsx'), 'ConsoleWindow'),
});

/** Around the pages of one service. */
const aService = createRoute({
  getParentRoute: () => inside,
  path: '/services/$id',
  component: lazyPage(() => import('./services/Service.tsx'), 'Service'),
});

const serviceOverview = createRoute({
  getParentRoute: () => aService,
  path: '/',
  component: lazyPage(() => import('./services/ServiceOverview.tsx'), 'ServiceOverview'),
});

/** Around the pages of one address. */
const anAddress = createRoute({
  getParentRoute: () => inside,
  path: '/shield/addresses/$ip',
  component: lazyPage(() => import('./shield/Address.tsx'), 'Address'),
});

const shieldPages = [
  createRoute({
    getParentRoute: () => inside,
    path: '/shield',
    validateSearch: ({ search }: Record<string, unknown>): { search?: string } =>
      typeof search === 'string' || typeof search === 'number' ? { search: String(search) } : {},
    component: lazyPage(() => import('./shield/Shield.tsx'), 'Shield'),
  }),
  createRoute({
    getParentRoute: () => inside,
    path: '/shield/attacks',
    component: lazyPage(() => import('./shield/Attacks.tsx'), 'Attacks'),
  }),
  createRoute({
    getParentRoute: () => inside,
    path: '/shield/attacks/$id',
    component: lazyPage(() => import('./shield/Attack.tsx'), 'Attack'),
  }),
  createRoute({
    getParentRoute: () => inside,
    path: '/shield/rate-limiters',
    component: lazyPage(() => import('./shield/RateLimiters.tsx'), 'RateLimiters'),
  }),
  createRoute({
    getParentRoute: () => inside,
    path: '/shield/rules/$id',
    component: lazyPage(() => import('./shield/Rule.tsx'), 'Rule'),
  }),
  anAddress.addChildren([
    createRoute({
      getParentRoute: () => anAddress,
      path: '/',
      component: lazyPage(() => import('./shield/Rules.tsx'), 'Rules'),
    }),
    createRoute({
      getParentRoute: () => anAddress,
      path: 'presets',
      component: lazyPage(() => import('./shield/Presets.tsx'), 'Presets'),
    }),
    createRoute({
      getParentRoute: () => anAddress,
      path: 'traffic',
      validateSearch: ({
        time,
        unit,
      }: Record<string, unknown>): { time?: TrafficTime; unit?: TrafficUnit } => ({
        time: oneOf(Object.keys(trafficTimes) as TrafficTime[], time),
        unit: oneOf(trafficUnits, unit),
      }),
      component: lazyPage(() => import('./shield/Traffic.tsx'), 'Traffic'),
    }),
    createRoute({
      getParentRoute: () => anAddress,
      path: 'attacks',
      component: lazyPage(() => import('./shield/Attacks.tsx'), 'AttacksOnAddress'),
    }),
    createRoute({
      getParentRoute: () => anAddress,
      path: 'detection',
      component: lazyPage(() => import('./shield/Detection.tsx'), 'Detection'),
    }),
    createRoute({
      getParentRoute: () => anAddress,
      path: 'explain',
      component: lazyPage(() => import('./shield/Which.tsx'), 'Which'),
    }),
  ]),
] as const;

const pages = [
  ...shieldPages,
  createRoute({ getParentRoute: () => inside, path: '/', component: Overview }),
  createRoute({
    getParentRoute: () => inside,
    path: '/services',
    validateSearch: ({ status, search }: Record<string, unknown>): ServiceFilter => ({
      status: oneOf(serviceStates, status),
      search: typeof search === 'string' ? search : undefined,
    }),
    component: Services,
  }),
  aService.addChildren([
    serviceOverview,
    createRoute({
      getParentRoute: () => aService,
      path: 'console',
      validateSearch: consoleOf,
      component: lazyPage(() => import('./vps/Console.tsx'), 'Console'),
    }),
    createRoute({
      getParentRoute: () => aService,
      path: 'charts',
      validateSearch: ({ period }: Record<string, unknown>): { period?: ChartPeriod } => ({
        period: oneOf(chartPeriods, period),
      }),
      component: lazyPage(() => import('./vps/Charts.tsx'), 'Charts'),
    }),
    createRoute({
      getParentRoute: () => aService,
      path: 'addresses',
      component: lazyPage(() => import('./vps/Addresses.tsx'), 'Addresses'),
    }),
    createRoute({
      getParentRoute: () => aService,
      path: 'bandwidth',
      validateSearch: ({ period }: Record<string, unknown>): { period?: BandwidthPeriod } => ({
        period: oneOf(Object.keys(bandwidthSteps) as BandwidthPeriod[], period),
      }),
      component: lazyPage(() => import('./dedicated/Bandwidth.tsx'), 'Bandwidth'),
    }),
    createRoute({
      getParentRoute: () => aService,
      path: 'hardware',
      component: lazyPage(() => import('./dedicated/Hardware.tsx'), 'Hardware'),
    }),
    createRoute({
      getParentRoute: () => aService,
      path: 'snapshots',
      component: lazyPage(() => import('./vps/Snapshots.tsx'), 'Snapshots'),
    }),
    createRoute({
      getParentRoute: () => aService,
      path: 'access',
      component: lazyPage(() => import('./vps/Access.tsx'), 'Access'),
    }),
    createRoute({
      getParentRoute: () => aService,
      path: 'settings',
      component: lazyPage(() => import('./vps/Settings.tsx'), 'Settings'),
    }),
    createRoute({
      getParentRoute: () => aService,
      path: 'resize',
      component: lazyPage(() => import('./vps/Resize.tsx'), 'Resize'),
    }),
    createRoute({
      getParentRoute: () => aService,
      path: 'reinstall',
      component: lazyPage(() => import('./services/Reinstall.tsx'), 'Reinstall'),
    }),
    createRoute({
      getParentRoute: () => aService,
      path: 'rescue',
      component: lazyPage(() => import('./dedicated/Rescue.tsx'), 'Rescue'),
    }),
    createRoute({
      getParentRoute: () => aService,
      path: 'contract',
      component: lazyPage(() => import('./services/Contract.tsx'), 'Contract'),
    }),
    createRoute({
      getParentRoute: () => aService,
      path: 'history',
      component: lazyPage(() => import('./vps/History.tsx'), 'History'),
    }),
  ]),
  createRoute({
    getParentRoute: () => inside,
    path: '/order',
    validateSearch: wantedOf,
    component: lazyPage(() => import('./cart/Order.tsx'), 'Order'),
  }),
  createRoute({
    getParentRoute: () => inside,
    path: '/billing',
    validateSearch: ({ status, search }: Record<string, unknown>): InvoiceFilter => ({
      status: oneOf(invoiceStates, status),
      search: typeof search === 'string' || typeof search === 'number' ? String(search) : undefined,
    }),
    component: lazyPage(() => import('./billing/Invoices.tsx'), 'Invoices'),
  }),
  createRoute({
    getParentRoute: () => inside,
    path: '/billing/credit',
    component: lazyPage(() => import('./billing/Credit.tsx'), 'Credit'),
  }),
  createRoute({
    getParentRoute: () => inside,
    path: '/billing/profile',
    component: lazyPage(() => import('./billing/Profile.tsx'), 'Profile'),
  }),
  createRoute({
    getParentRoute: () => inside,
    path: '/billing/payment-methods',
    component: lazyPage(() => import('./billing/PaymentMethods.tsx'), 'PaymentMethods'),
  }),
  createRoute({
    getParentRoute: () => inside,
    path: '/invoices/$id',
    validateSearch: ({ paid }: Record<string, unknown>): { paid?: boolean } =>
      paid === true ? { paid } : {},
    component: lazyPage(() => import('./billing/Invoice.tsx'), 'Invoice'),
  }),
  createRoute({
    getParentRoute: () => inside,
    path: '/tickets',
    validateSearch: ({
      status,
      priority,
      department,
      search,
      sort,
    }: Record<string, unknown>): TicketFilter => ({
      status: oneOf(ticketStates, status),
      priority: oneOf(ticketPriorities, priority),
      department: typeof department === 'string' ? department : undefined,
      search: typeof search === 'string' || typeof search === 'number' ? String(search) : undefined,
      sort: oneOf(ticketOrders, sort),
    }),
    component: lazyPage(() => import('./tickets/Tickets.tsx'), 'Tickets'),
  }),
  createRoute({
    getParentRoute: () => inside,
    path: '/tickets/new',
    validateSearch: ({ request, service }: Record<string, unknown>): About => ({
      // An address is written by anybody: nothing but what looks like the id of a request goes into a ticket.
      request: typeof request === 'string' && /^[\w-]{1,64}$/.test(request) ? request : undefined,
      service: typeof service === 'number' ? service : undefined,
    }),
    component: lazyPage(() => import('./tickets/NewTicket.tsx'), 'NewTicket'),
  }),
  createRoute({
    getParentRoute: () => inside,
    path: '/tickets/$tid',
    component: lazyPage(() => import('./tickets/Ticket.tsx'), 'Ticket'),
  }),
  createRoute({
    getParentRoute: () => inside,
    path: '/organization',
    component: lazyPage(() => import('./organizations/Organization.tsx'), 'Organization'),
  }),
  createRoute({
    getParentRoute: () => inside,
    path: '/organization/members',
    component: lazyPage(() => import('./organizations/Members.tsx'), 'Members'),
  }),
  createRoute({
    getParentRoute: () => inside,
    path: '/organization/activity',
    validateSearch: ({ action, user_id, since, until }: Record<string, unknown>): ActivityFilter => ({
      action: typeof action === 'string' ? action : undefined,
      user_id: typeof user_id === 'number' ? user_id : undefined,
      since: dayOf(since),
      until: dayOf(until),
    }),
    component: lazyPage(() => import('./organizations/Activity.tsx'), 'Activity'),
  }),
  createRoute({
    getParentRoute: () => inside,
    path: '/developers',
    component: lazyPage(() => import('./account/ApiKeys.tsx'), 'ApiKeys'),
  }),
  createRoute({
    getParentRoute: () => inside,
    path: '/developers/ssh-keys',
    component: lazyPage(() => import('./account/SshKeys.tsx'), 'SshKeys'),
  }),
  createRoute({
    getParentRoute: () => inside,
    path: '/developers/webhooks',
    component: lazyPage(() => import('./webhooks/Webhooks.tsx'), 'Webhooks'),
  }),
  createRoute({
    getParentRoute: () => inside,
    path: '/developers/webhooks/$id',
    validateSearch: ({ state }: Record<string, unknown>): { state?: DeliveryState } => ({
      state: oneOf(deliveryStates, state),
    }),
    component: lazyPage(() => import('./webhooks/Webhook.tsx'), 'Webhook'),
  }),
  createRoute({
    getParentRoute: () => inside,
    path: '/developers/deliveries/$id',
    component: lazyPage(() => import('./webhooks/Delivery.tsx'), 'Delivery'),
  }),
  createRoute({
    getParentRoute: () => inside,
    path: '/account',
    component: lazyPage(() => import('./account/Account.tsx'), 'Account'),
  }),
  createRoute({
    getParentRoute: () => inside,
    path: '/account/security',
    component: lazyPage(() => import('./account/Security.tsx'), 'Security'),
  }),
] as const;

/** The one list of pages, as `src/api.ts` is for the API. */
export const router = createRouter({
  routeTree: root.addChildren([
    ...open,
    consoleWindow,
    inside.addChildren(pages),
    staffHouse.addChildren(staffPages),
  ]),
  defaultPreload: 'intent',
  // What was typed or opened on the page of one thing is never carried to the page of another one.
  defaultRemountDeps: ({ params }) => params,
  scrollRestoration: true,
});

/** Reads the scripts of the page that most people open next, a service's, so that a click waits for its data alone. */
export function readAhead(): void {
  // What fails here is asked for again, and told, where somebody wants to see it.
  for (const route of [aService, serviceOverview]) router.loadRouteChunk(route)?.catch(() => undefined);
}

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
