import { IdParams, type RouteGroup, routes } from '../../platform/http/index.ts';
import { examples } from './examples.ts';
import { listMoves, listServicesOfMove } from './list.ts';
import { movePrices, readMove, revokeMove } from './request.ts';
import * as S from './schema.ts';

const money = { auth: 'staff', area: 'billing', staffRoles: ['administrator', 'billing'] } as const;

const ofProducts = routes('/staff/products', { tag: 'Staff: catalogue', examples }, (route) => {
  route.post(
    '/:id/price-moves',
    {
      ...money,
      operation: 'createPriceMove',
      summary: 'Move services to the price of their product',
      description:
        'Services that run keep their price when that of their product changes. This moves them to what it costs today, from ' +
        'the first renewal of each on a day or later: each customer is told by mail at once, and what is paid or invoiced keeps ' +
        'its price. The move waits for whoever could not be told. With `dry_run` it says whom it would concern.',
      params: IdParams,
      query: S.PreviewQuery,
      body: S.NewPriceMove,
      data: S.PriceMoveMade,
      errors: ['not_found', 'amount_too_large'],
    },
    (ctx, req) => movePrices(ctx, req.params.id, req.body, req.query.cursor),
  );
});

const ofMoves = routes('/staff/price-moves', { tag: 'Staff: catalogue', examples }, (route) => {
  route.get(
    '',
    {
      ...money,
      operation: 'listPriceMoves',
      summary: 'List moves of prices',
      description:
        'Each with how many customers were told and how many services pay the new price, newest first.',
      query: S.PriceMoveQuery,
      data: S.PriceMoveList,
    },
    (ctx, req) => listMoves(ctx, req.query),
  );
  route.get(
    '/:id',
    {
      ...money,
      operation: 'getPriceMove',
      summary: 'Get a move of prices',
      description: 'One move, and how far it is.',
      params: IdParams,
      data: S.PriceMoveData,
      errors: ['not_found'],
    },
    (ctx, req) => readMove(ctx, req.params.id),
  );
  route.get(
    '/:id/services',
    {
      ...money,
      operation: 'listPriceMoveServices',
      summary: 'List the services of a move of prices',
      description: 'Each with its price before and after, and when its customer was told.',
      params: IdParams,
      query: S.MovedQuery,
      data: S.MovedList,
      errors: ['not_found'],
    },
    (ctx, req) => listServicesOfMove(ctx, req.params.id, req.query),
  );
  route.post(
    '/:id/revoke',
    {
      ...money,
      operation: 'revokePriceMove',
      summary: 'Revoke a move of prices',
      description:
        'Takes it back for every service that does not pay the new price yet. Customers who were told are told that it is ' +
        'off, and open invoices at the new price are replaced.',
      params: IdParams,
      data: S.PriceMoveData,
      errors: ['not_found', 'conflict'],
    },
    (ctx, req) => revokeMove(ctx, req.params.id),
  );
});

/** What staff does with the prices of services that run. */
export const priceMoveStaffRoutes: RouteGroup[] = [ofProducts, ofMoves];
