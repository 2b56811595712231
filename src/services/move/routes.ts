import { IdParams, type RouteGroup, routes } from '../../platform/http/index.ts';
import { examples } from './examples.ts';
import { type Mover, moveService } from './move.ts';
import * as S from './schema.ts';

/** A service goes to another organization. What a room has of it, it moves itself; the room above hands it over. */
export function moveRoutes(movers: readonly Mover[]): RouteGroup {
  return routes('/dashboard/services', { tag: 'Services', examples }, (route) => {
    route.post(
      '/:id/move',
      {
        auth: 'organization',
        permission: 'organization.manage',
        fresh: true,
        operation: 'moveService',
        summary: 'Move service',
        description:
          'Makes a service of an organization that you own another organization’s, in which you are an owner or administrator. ' +
          'It runs on, with its addresses, its price, what a coupon takes off its renewals, a new price that was announced and ' +
          'its due date, and the other organization pays from then on. What was paid stays where it was paid: its invoices, and ' +
          'what goes back of them. Nothing of it may be open, and its machine not be protected from being deleted. Passwords ' +
          'and SSH keys of a machine stay good; change them if they should not.',
        params: IdParams,
        body: S.Move,
        data: S.MoveData,
        errors: ['not_found', 'conflict'],
      },
      (ctx, req) => moveService(ctx, req.params.id, req.body.organization_id, movers),
    );
  });
}
