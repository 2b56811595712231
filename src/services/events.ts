import { Type } from 'typebox';
import { event } from '../events/index.ts';
import { Day, Id, MoneyText, Nullable } from '../platform/http/index.ts';

interface DeliveryWanted {
  module_id: number;
}

interface StaffDeliveryWanted extends DeliveryWanted {
  user_id: number;
  /** Name of the product. */
  product: string;
  hostname: string | null;
}

interface Provisioned {
  user_id: number;
  /** Name of the product. */
  product: string;
  hostname: string | null;
  primary_ip: string | null;
}

interface Reason {
  reason: string;
}

/** Of a change of state: whom it concerns, and what it is called for people. */
interface StateChanged {
  user_id: number;
  /** Name of the product. */
  product: string;
  hostname: string | null;
  module_id: number;
  /** It is on a server out of the rack: a room looks after it, and not staff. */
  on_server: boolean;
}

interface StateChangedFor extends StateChanged {
  reason: string;
}

interface Reminded {
  user_id: number;
  service_id: number;
  product: string;
  hostname: string | null;
  /** What is not paid of it. */
  due: string;
  currency: string;
  duedate: string;
  /** From when on the service may be suspended; null: never, or not yet. */
  suspends_on: string | null;
  /** Whether the next thing is the suspension. */
  last: boolean;
}

interface Ending {
  user_id: number;
  product: string;
  hostname: string | null;
  ends_on: string;
}

interface TrafficUsed {
  user_id: number;
  product: string;
  hostname: string | null;
  /** `2026-03`, of UTC. */
  month: string;
  /** Of what is included. */
  percent: number;
  billing: 'total' | 'percentile95';
  /** TB or Mbit/s, by `billing`. */
  used: number;
  included: number;
}

interface Promised {
  until: string | null;
  note: string | null;
}

interface DoneByHand extends StateChanged {
  task: string;
}

interface Retried {
  module_id: number;
}

interface Upgraded {
  before: Record<string, unknown>;
  after: Record<string, unknown>;
  price: string;
  currency: string;
}

interface Updated {
  change: { auto_renew: boolean } | { note: string | null };
}

interface CancelRevoked {
  user_id: number;
  /** Name of the product. */
  product: string;
  hostname: string | null;
}

interface CancelScheduled extends CancelRevoked {
  /** The first day on which it does not run any more. */
  effective_on: string;
  /** What its customer said. */
  reason: string | null;
}

interface Renewed {
  user_id: number;
  invoice_id: number;
  /** Name of the product. */
  product: string;
  hostname: string | null;
  /** When it was paid: `active`, or `suspended`. */
  status: string;
  cycle: string;
  duedate_before: string;
  duedate: string;
  /** Of the period that was paid, before tax. */
  price: string;
  currency: string;
}

interface RenewalRefunded {
  user_id: number;
  invoice_id: number;
  /** Name of the product. */
  product: string;
  hostname: string | null;
  duedate_before: string;
  duedate: string;
}

interface PriceChangeAnnounced {
  user_id: number;
  /** Name of the product. */
  product: string;
  hostname: string | null;
  cycle: string;
  /** Of a period, before tax. */
  price_before: string;
  price: string;
  currency: string;
  /** The first day of the first period at the new price. */
  from: string;
}

interface PriceChanged {
  price_move_id: number;
  invoice_id: number;
  cycle: string;
  price_before: string;
  price: string;
  currency: string;
  from: string;
}

interface PriceChangeRevoked {
  user_id: number;
  product: string;
  hostname: string | null;
  /** What it costs as before. */
  price: string;
  currency: string;
}

interface PriceMoveRevoked {
  product_id: number;
  product: string;
  from: string;
}

interface PriceMoveCreated extends PriceMoveRevoked {
  currency: string;
  /** By cycle, without units beyond it. */
  prices: Record<string, string>;
}

interface ProductChanged {
  user_id: number;
  module_id: number;
  hostname: string | null;
  /** Names of the products. */
  product_before: string;
  product: string;
  /** The options. */
  before: Record<string, unknown>;
  after: Record<string, unknown>;
  cycle: string;
  duedate: string | null;
  price: string;
  currency: string;
}

interface ProductChangeEnded {
  module_id: number;
  invoice_id: number | null;
  product_id: number;
}

interface UpgradeExpired {
  invoice_id: number | null;
  options: Record<string, unknown>;
}

interface OrderHeld {
  user_id: number | null;
  /** The rules that held it, in words for staff. */
  reasons: string[];
}

interface OrderRefused extends Reason {
  user_id: number | null;
}

interface OrderReleased {
  user_id: number | null;
  /** For staff. */
  note: string | null;
}

interface ServiceMoved {
  user_id: number | null;
  product: string;
  hostname: string | null;
  module_id: number;
  organization_id: number;
  organization: string;
}

interface ServiceMovedIn extends ServiceMoved {
  /** A new price that its customer before was told of, which goes along. */
  coming_price: { price: string; currency: string; from: string } | null;
}

export const orderHeld = event<OrderHeld>('order.held', 'a paid order waits until staff has looked at it');
export const orderReleased = event<OrderReleased>('order.released', 'staff let a held order be delivered');
export const orderRefused = event<OrderRefused>(
  'order.refused',
  'staff refused a held order and gave its money back',
);
export const deliveryWanted = event<DeliveryWanted>(
  'service.delivery_wanted',
  'a service was paid, and is made ready',
);
export const staffDeliveryWanted = event<StaffDeliveryWanted>(
  'service.staff_delivery_wanted',
  'a service was paid and is to be delivered by staff, by hand',
);
export const serviceProvisioned = event<Provisioned>('service.provisioned', 'a service was delivered', {
  permission: 'service.read',
  data: { product: Type.String(), hostname: Nullable(Type.String()), primary_ip: Nullable(Type.String()) },
});
export const serviceFailed = event<Reason>('service.failed', 'the delivery of a service failed', {
  permission: 'service.read',
  data: {},
});
export const serviceRetried = event<Retried>('service.retried', 'staff had a failed delivery tried again');
export const serviceCancelled = event<Reason>(
  'service.cancelled',
  'a service was cancelled before its delivery',
  { permission: 'service.read', data: { reason: Type.String() } },
);
export const serviceSuspended = event<StateChangedFor>(
  'service.suspended',
  'a service may not be used for a while',
  {
    permission: 'service.read',
    data: { product: Type.String(), hostname: Nullable(Type.String()), reason: Type.String() },
  },
);
export const serviceUnsuspended = event<StateChanged>(
  'service.unsuspended',
  'a service that was suspended may be used again',
  { permission: 'service.read', data: { product: Type.String(), hostname: Nullable(Type.String()) } },
);
export const serviceTerminated = event<StateChangedFor>(
  'service.terminated',
  'a service has ended, and what it held is given back',
  {
    permission: 'service.read',
    data: { product: Type.String(), hostname: Nullable(Type.String()), reason: Type.String() },
  },
);
export const serviceDoneByHand = event<DoneByHand>(
  'service.done_by_hand',
  'staff did by hand what a service waited for',
);
export const invoiceReminded = event<Reminded>(
  'invoice.reminded',
  'a customer was reminded of an invoice before it was due',
);
export const invoiceOverdue = event<Reminded>(
  'invoice.overdue',
  'a customer was told that an invoice is overdue, once more before the service is suspended',
  {
    permission: 'billing.read',
    data: {
      service_id: Id,
      product: Type.String(),
      hostname: Nullable(Type.String()),
      due: MoneyText,
      currency: Type.String(),
      duedate: Day,
      suspends_on: Nullable(Day),
      last: Type.Boolean(),
    },
  },
);
export const serviceEnding = event<Ending>(
  'service.ending',
  'a customer was told that a service ends with its paid time, since it is not renewed by itself',
);
export const trafficUsed = event<TrafficUsed>(
  'service.traffic_used',
  'a customer was told that a server has used 80 or 100 per cent of the traffic that its month includes',
  {
    permission: 'service.read',
    data: {
      product: Type.String(),
      hostname: Nullable(Type.String()),
      month: Type.String(),
      percent: Type.Integer(),
      billing: Type.String(),
      used: Type.Number(),
      included: Type.Number(),
    },
  },
);
export const paymentPromised = event<Promised>(
  'payment.promised',
  'staff noted until when somebody promised to pay, or took that back',
);
export const serviceUpgraded = event<Upgraded>('service.upgraded', 'a service has a new size and price', {
  permission: 'service.read',
  data: { price: MoneyText, currency: Type.String() },
});
export const upgradeExpired = event<UpgradeExpired>(
  'service.upgrade_expired',
  'an upgrade was not paid, or paid back, and what it held is free again',
);
export const serviceRenewed = event<Renewed>('service.renewed', 'a service is paid for one period more', {
  permission: 'service.read',
  data: {
    invoice_id: Id,
    product: Type.String(),
    hostname: Nullable(Type.String()),
    status: Type.String(),
    cycle: Type.String(),
    duedate_before: Day,
    duedate: Day,
    price: MoneyText,
    currency: Type.String(),
  },
});
export const renewalRefunded = event<RenewalRefunded>(
  'service.renewal_refunded',
  'the money of a period was given back, and the service is paid until an earlier day',
);
export const serviceUpdated = event<Updated>(
  'service.updated',
  'somebody of its organization changed what a service is noted as, or whether it renews by itself',
  { permission: 'service.read', data: {} },
);
export const cancelScheduled = event<CancelScheduled>(
  'service.cancel_scheduled',
  'its customer cancelled a service, which ends with its period',
  {
    permission: 'service.read',
    data: { product: Type.String(), hostname: Nullable(Type.String()), effective_on: Day },
  },
);
export const cancelRevoked = event<CancelRevoked>(
  'service.cancel_revoked',
  'its customer took the cancellation of a service back',
  { permission: 'service.read', data: { product: Type.String(), hostname: Nullable(Type.String()) } },
);
export const priceMoveCreated = event<PriceMoveCreated>(
  'price_move.created',
  'staff moves the services of a product to what it costs, from a day on',
);
export const priceMoveRevoked = event<PriceMoveRevoked>(
  'price_move.revoked',
  'staff took a move of prices back for all services that do not pay the new price yet',
);
export const priceChangeAnnounced = event<PriceChangeAnnounced>(
  'service.price_change_announced',
  'a customer was told that a service costs something else from a renewal on',
);
export const priceChanged = event<PriceChanged>(
  'service.price_changed',
  'a service was renewed at the price that its customer was told of',
);
export const priceChangeRevoked = event<PriceChangeRevoked>(
  'service.price_change_revoked',
  'a customer was told that a service keeps its price after all',
);
export const productChanged = event<ProductChanged>(
  'service.product_changed',
  'a service is another product from now on',
  {
    permission: 'service.read',
    data: {
      product_before: Type.String(),
      product: Type.String(),
      cycle: Type.String(),
      price: MoneyText,
      currency: Type.String(),
    },
  },
);
export const productChangeEnded = event<ProductChangeEnded>(
  'service.product_change_ended',
  'a service does not become another product: that was not paid, or paid back',
);
export const serviceMovedAway = event<ServiceMoved>(
  'service.moved_away',
  'a service was moved to another organization',
);
export const serviceMovedIn = event<ServiceMovedIn>(
  'service.moved_in',
  'a service was moved here from another organization',
);
