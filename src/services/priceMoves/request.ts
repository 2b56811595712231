import { findProducts, lockProduct, type Product } from '../../catalog/index.ts';
import { record } from '../../events/index.ts';
import {
  addDays,
  type Context,
  dayOf,
  fail,
  formatMoney,
  requireRow,
  transaction,
} from '../../platform/index.ts';
import { readSettings } from '../../settings/index.ts';

import { priceMoveCreated, priceMoveRevoked } from '../events.ts';
import { cyclesOf } from './coming.ts';
import { previewMove } from './preview.ts';
import { lockMove, type MoveRow, moveById, writeMove, writeRevoked } from './row.ts';
import { prices } from './settings.ts';

interface Wanted {
  from: string;
  dry_run?: boolean | undefined;
}

/**
 * Moves the services of a product to what it costs today, from the first renewal of each on a day or later: each customer
 * is told by mail at once. With `dry_run` it says whom that would concern and writes nothing. `not_found`;
 * `invalid_request` for a day before which customers cannot be told in time.
 */
export async function movePrices(ctx: Context, productId: number, wanted: Wanted, cursor?: string) {
  if (wanted.dry_run === true) {
    const product = await requireProduct(ctx, productId);
    await requireNotice(ctx, wanted.from);
    return { price_move: null, preview: await previewMove(ctx, product, wanted.from, cursor) };
  }
  return transaction(ctx, 'services.createPriceMove', async (tx) => {
    // Its prices are as they are read until this is written.
    await lockProduct(tx, productId);
    const product = await requireProduct(tx, productId);
    const noticeDays = await requireNotice(tx, wanted.from);
    const cycles = cyclesOf(product);
    const id = await writeMove(tx, {
      productId,
      fromOn: wanted.from,
      noticeDays,
      prices: cycles,
      options: product.options,
    });
    const { name, currency } = product;
    const money = Object.entries(cycles).map(([cycle, minor]) => [cycle, formatMoney(minor, currency)]);
    await record(tx, priceMoveCreated, {
      subject: { type: 'price_move', id },
      organizationId: null,
      data: {
        product_id: productId,
        product: name,
        from: wanted.from,
        currency,
        prices: Object.fromEntries(money),
      },
    });
    return { ...(await readMove(tx, id)), preview: null };
  });
}

/**
 * Takes a move back for all services for which it does not count yet; those who were told of it are told that it is off.
 * `conflict` when it was revoked, or counts for all.
 */
export async function revokeMove(ctx: Context, id: number) {
  return transaction(ctx, 'services.revokePriceMove', async (tx) => {
    const { revokedAt } = await requireRow(tx, lockMove, { id });
    if (revokedAt !== null) throw fail('conflict', { message: 'This move of prices was revoked already' });
    const move = await requireRow(tx, moveById, { id });
    if (stateOf(move) === 'done') {
      const message =
        'Every service of this move pays the new price, or has ended; change the price of the product and move it again';
      throw fail('conflict', { message });
    }
    await writeRevoked(tx, id);
    await record(tx, priceMoveRevoked, {
      subject: { type: 'price_move', id },
      organizationId: null,
      data: { product_id: move.productId, product: move.product, from: move.fromOn },
    });
    return readMove(tx, id);
  });
}

export async function readMove(ctx: Context, id: number) {
  return { price_move: viewMove(await requireRow(ctx, moveById, { id })) };
}

/** A move as staff sees it. */
export function viewMove(move: MoveRow) {
  const { waiting = 0, telling = 0, told = 0, moved = 0, ended = 0, revoked = 0 } = move.counts;
  return {
    id: move.id,
    product: { id: move.productId, name: move.product },
    from: move.fromOn,
    notice_days: move.noticeDays,
    currency: move.currency,
    prices: Object.entries(move.prices).map(([cycle, minor]) => ({
      cycle,
      price: formatMoney(minor, move.currency),
    })),
    state: stateOf(move),
    services: { waiting: waiting + telling, told, moved, ended, revoked },
    user_id: move.userId,
    created_at: move.createdAt,
    revoked_at: move.revokedAt,
  };
}

function stateOf({ gatheredAt, revokedAt, counts }: MoveRow) {
  if (revokedAt !== null) return 'revoked' as const;
  if (gatheredAt === null) return 'preparing' as const;
  const open = (counts.waiting ?? 0) + (counts.telling ?? 0) + (counts.told ?? 0);
  return open > 0 ? ('announced' as const) : ('done' as const);
}

async function requireProduct(ctx: Context, id: number): Promise<Product> {
  const product = (await findProducts(ctx, [id])).get(id);
  if (product === undefined) throw fail('not_found');
  return product;
}

/** The days of notice, which the first day leaves. */
async function requireNotice(ctx: Context, from: string): Promise<number> {
  const { notice_days: days } = await readSettings(ctx, prices);
  const earliest = addDays(dayOf(ctx.clock.now()), days);
  if (from >= earliest) return days;
  const message = `must be ${earliest} or later: customers are told ${days} days before (settings, prices.notice_days)`;
  throw fail('invalid_request', { details: [{ field: 'from', message }] });
}
