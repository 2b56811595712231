import { type RouteGroup, routes } from '../../platform/http/index.ts';
import type { PersonalRoom } from '../../platform/index.ts';
import { examples } from '../examples.ts';
import { closeAccount, type EndingOrganizations } from './close.ts';
import { exportAccount, type OwnedOrganizations } from './export.ts';
import * as S from './schema.ts';

const group = { tag: 'Account', about: 'Who you are, and the SSH keys that your machines let in.', examples };

// About the person, so whoever is in no organization names none.
const own = { auth: 'organization', organization: 'of-members' } as const;

interface Upstairs {
  ownedOrganizations: OwnedOrganizations;
  endingOrganizations: EndingOrganizations;
}

/** `rooms` is what each room knows of people. */
export function closingRoutes(rooms: readonly PersonalRoom[], upstairs: Upstairs): RouteGroup {
  return routes('/dashboard/account', group, (route) => {
    route.get(
      '/export',
      {
        ...own,
        area: 'all',
        limit: 'export',
        operation: 'exportAccountData',
        summary: 'Export account data',
        description:
          'Every row that concerns you, and those of the organizations that you own, by table: `data` holds `exported_at`, ' +
          '`user_id` and `tables`, with an array of rows for each. Secrets are left out. It is made while it is sent, so take ' +
          'it without a pause: after a minute of none it ends, and after half an hour in all, and what has no end is not whole. One ' +
          'at a time for each account.',
        produces: 'application/json',
        errors: ['permission_denied', 'rate_limited'],
      },
      (ctx, req) => exportAccount(ctx, req.principal, rooms, upstairs.ownedOrganizations),
    );
    route.post(
      '/close',
      {
        ...own,
        area: 'all',
        fresh: true,
        limit: 'revoke',
        operation: 'closeAccount',
        summary: 'Close account',
        description:
          'Closes your account for good, with the organizations that nobody else is in. Sessions, keys and passkeys end, your ' +
          'name and addresses are forgotten, and what the law wants kept stays without them. While services run there, invoices ' +
          'are open, credit is left, or others are in an organization without another owner, it is refused: `details` names each.',
        body: S.ClosingWish,
        data: S.ClosedData,
        errors: ['account_in_use', 'staff_account'],
      },
      (ctx, req) => closeAccount(ctx, req.body, rooms, upstairs.endingOrganizations),
    );
  });
}
