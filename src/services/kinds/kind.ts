import type { Context, ErrorDetail, TxContext } from '../../platform/index.ts';
import { type deliveryWanted, staffDeliveryWanted } from '../events.ts';
import type { OptionSet } from './options.ts';

/** What somebody orders: of which product, and how. */
export interface Order<T> {
  productId: number;
  options: T;
}

/** A service that is being ordered, with its options. */
export interface Wanted<T> extends Order<T> {
  id: number;
}

/** What a kind of service takes from the provider's means while it is ordered and for as long as it lives. */
interface Means<T> {
  /** What the provider cannot do for such an order at the moment: the option by its key, and why. */
  problems: (ctx: Context, orders: Order<T>[]) => Promise<ErrorDetail[][]>;
  /** Fails as {@link hold} would for all of these orders, and writes nothing. */
  requireAvailable: (ctx: Context, orders: Order<T>[]) => Promise<void>;
  /**
   * Takes what the services of an order need, all at once: `insufficient_stock` when it is not there, `too_many` when
   * the organization's unpaid orders would hold too much. The caller holds the organization's lock.
   */
  hold: (tx: TxContext, organizationId: number, services: Wanted<T>[]) => Promise<void>;
  /** Gives back what was held and never used; nothing is fine. */
  giveBack: (tx: TxContext, serviceId: number) => Promise<void>;
}

/** `type` of a service on the wire (contract §3). */
export const serviceTypes = ['vps', 'dedicated', 'hosting', 'domain', 'other'] as const;

/** A row of the table of kinds, as it is written down. */
interface Row<T extends object> {
  /** `moduleId` on the wire (contract §2). */
  id: number;
  type: (typeof serviceTypes)[number];
  /** Its order names a hostname and the first password of its administrator. */
  isServer: boolean;
  options: OptionSet<T>;
  /** Null: nothing but the product's stock. */
  means: Means<T> | null;
  /** Recorded once it is paid: who delivers it reacts. */
  deliver: typeof deliveryWanted | typeof staffDeliveryWanted;
}

type Raw = Record<string, unknown>;

/** A kind of service, to those who do not know which: what it takes are the options as they stand in an order. */
export type Kind = Omit<Row<object>, 'options' | 'means'> &
  Pick<OptionSet<object>, 'missing' | 'unreadable' | 'aboutOf'> &
  Means<Raw>;

export function kind<T extends object>({ options, means, ...row }: Row<T>): Kind {
  const { missing, unreadable, aboutOf } = options;
  const read = <O extends Order<Raw>>(order: O) => ({ ...order, options: options.read(order.options) });
  return {
    ...row,
    missing,
    unreadable,
    aboutOf,
    problems: async (ctx, orders) =>
      means === null ? orders.map(() => []) : means.problems(ctx, orders.map(read)),
    requireAvailable: async (ctx, orders) => means?.requireAvailable(ctx, orders.map(read)),
    hold: async (tx, organizationId, services) => means?.hold(tx, organizationId, services.map(read)),
    giveBack: async (tx, serviceId) => means?.giveBack(tx, serviceId),
  };
}

/** Whether staff delivers it, since no room does. */
export function isByHand({ deliver }: Kind): boolean {
  return deliver === staffDeliveryWanted;
}
