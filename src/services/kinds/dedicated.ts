import {
  giveBackServer,
  holdServers,
  isChosen,
  listServerImages,
  listServerOffers,
  reasonAgainst,
  requireAddresses,
  reserveAddresses,
  returnUnusedAddresses,
  type ServerOffer,
} from '../../fleet/index.ts';
import { type Context, type ErrorDetail, fail } from '../../platform/index.ts';
import { deliveryWanted } from '../events.ts';
import { requireFewReserved } from '../reserved.ts';
import { kind, type Order } from './kind.ts';
import { amount, open, optionSet, speedMbps, word } from './options.ts';

/**
 * What the options of a server out of the rack mean (contract §2). Memory, storage, speed and location choose among the profiles that are sold
 * as the product: a server is what its profile says, to the gigabyte, and is where its rack is. What an order leaves open may be
 * anything. The speed chooses where a profile of the product says one.
 */
export interface DedicatedOptions {
  memoryGb: number | null;
  /** All disks of the server together, in thousand millions of bytes. */
  storageGb: number | null;
  ipv4Count: number;
  ipv6Count: number;
  /** Slug of an image that servers can be installed with. */
  os: string;
  portMbps: number | null;
  location: string | null;
}

export const dedicatedOptions = optionSet({
  memoryGb: open(amount('option1', 'memory in GB')),
  storageGb: open(amount('option2', 'all disks together in GB')),
  ipv4Count: amount('option4', 'IPv4 addresses', 0),
  ipv6Count: amount('option5', 'IPv6 addresses', 0),
  os: word('option6', 'the slug of an image for servers'),
  portMbps: open(speedMbps('option7', 'speed, such as 1gbit')),
  location: open(word('option8', 'the location of a rack')),
});

const mibPerGb = 1_024;

/** A dedicated server that is sold out of the rack; one of which no server is known staff delivers by hand. */
export const dedicated = kind<DedicatedOptions>({
  id: 5,
  type: 'dedicated',
  isServer: true,
  options: dedicatedOptions,
  means: {
    problems: async (ctx, orders) => {
      if (orders.length === 0) return [];
      const offers = await listServerOffers(ctx, productsOf(orders));
      const images = new Map((await listServerImages(ctx)).map((image) => [image.slug, image]));
      return orders.map(({ productId, options }) => [
        ...unknownServer(options, offers.get(productId) ?? []),
        ...unfitSystem(options, images.get(options.os)),
      ]);
    },
    requireAvailable: requireInStock,
    hold: async (tx, organizationId, services) => {
      await requireFewReserved(
        tx,
        organizationId,
        services.map(({ options }) => Math.max(1, options.ipv4Count)),
      );
      const held = await holdServers(
        tx,
        services.map(({ id: serviceId, ...order }) => ({ serviceId, ...choiceOf(order) })),
      );
      const places = new Map(held.map(({ serviceId, location }) => [serviceId, location]));
      await reserveAddresses(
        tx,
        organizationId,
        services.map(({ id, options: { ipv4Count, ipv6Count } }) => ({
          ...{ id, ipv4Count, ipv6Count, location: places.get(id) ?? '' },
        })),
      );
    },
    giveBack: async (tx, serviceId) => {
      await giveBackServer(tx, serviceId);
      await returnUnusedAddresses(tx, serviceId);
    },
  },
  deliver: deliveryWanted,
});

/** Which server an order wants, for whoever holds one. */
export function choiceOf({ productId, options }: Order<DedicatedOptions>) {
  const { memoryGb, storageGb, portMbps, location } = options;
  return { productId, memoryGb, storageGb, portMbps, location };
}

function productsOf(orders: readonly Order<DedicatedOptions>[]): number[] {
  return [...new Set(orders.map(({ productId }) => productId))];
}

/** What no server of the product is, in whatever state but retired, is no configuration of it. */
function unknownServer(options: DedicatedOptions, offers: readonly ServerOffer[]): ErrorDetail[] {
  if (offers.some((offer) => isChosen(options, offer))) return [];
  // Named is the first choice by which nothing is left of those before it: what to choose otherwise.
  const { memoryGb, storageGb, portMbps } = options;
  const none = { memoryGb: null, storageGb: null, portMbps: null, location: null };
  const withMemory = offers.filter((offer) => isChosen({ ...none, memoryGb }, offer));
  const withBoth = withMemory.filter((offer) => isChosen({ ...none, storageGb }, offer));
  const withSpeed = withBoth.filter((offer) => isChosen({ ...none, portMbps }, offer));
  if (withMemory.length === 0)
    return [
      refused(
        'memoryGb',
        memoryGb,
        'GB of memory',
        offers.map((offer) => offer.memoryGb),
      ),
    ];
  if (withBoth.length === 0)
    return [
      refused(
        'storageGb',
        storageGb,
        'GB of storage',
        withMemory.map((offer) => offer.storageGb),
      ),
    ];
  if (withSpeed.length === 0)
    return [
      refused(
        'portMbps',
        portMbps,
        'Mbit/s at its port',
        withBoth.map((offer) => offer.portMbps),
      ),
    ];
  return [
    refused(
      'location',
      options.location,
      'as its location',
      withSpeed.map((offer) => offer.location),
    ),
  ];
}

function refused(
  name: keyof DedicatedOptions,
  value: string | number | null,
  what: string,
  others: readonly (string | number | null)[],
): ErrorDetail {
  const known = [...new Set(others)].filter((other) => other !== null).join(', ');
  const field = dedicatedOptions.keyOf(name);
  const there = known === '' ? 'none is known' : `there are ${known}`;
  return { field, message: `no server of this product has ${value ?? 'anything'} ${what}; ${there}` };
}

function unfitSystem(
  { os, memoryGb, storageGb }: DedicatedOptions,
  image: Parameters<typeof reasonAgainst>[0] | undefined,
): ErrorDetail[] {
  const message = image
    ? reasonAgainst(image, {
        memoryMib: (memoryGb ?? Number.POSITIVE_INFINITY) * mibPerGb,
        diskGib: storageGb ?? Number.POSITIVE_INFINITY,
      })
    : `${os} is not offered for servers at the moment`;
  return message === null ? [] : [{ field: dedicatedOptions.keyOf('os'), message }];
}

/** As {@link holdServers} and the addresses would be refused, one after the other; nothing is written. */
async function requireInStock(ctx: Context, orders: Order<DedicatedOptions>[]): Promise<void> {
  const offers = await listServerOffers(ctx, productsOf(orders));
  const left = new Map([...offers].map(([id, each]) => [id, each.map((offer) => ({ ...offer }))]));
  const needs = orders.map(({ productId, options }) => {
    const offer = left.get(productId)?.find((each) => each.ready > 0 && isChosen(options, each));
    if (offer === undefined) throw fail('insufficient_stock');
    offer.ready -= 1;
    return { location: offer.location, ipv4Count: options.ipv4Count, ipv6Count: options.ipv6Count };
  });
  await requireAddresses(ctx, needs);
}
