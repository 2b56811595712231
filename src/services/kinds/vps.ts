import {
  listImages,
  type Resources,
  reasonAgainst,
  releaseResources,
  requireAvailable,
  reserveAddresses,
  reserveResources,
  returnUnusedAddresses,
} from '../../fleet/index.ts';
import type { Context, ErrorDetail } from '../../platform/index.ts';
import { deliveryWanted } from '../events.ts';
import { requireFewReserved } from '../reserved.ts';
import { kind, type Order } from './kind.ts';
import { amount, optionSet, speedMbps, word } from './options.ts';

/** What the options of a VPS mean (contract §2). */
export interface VpsOptions {
  memoryGb: number;
  diskGb: number;
  cpuCores: number;
  ipv4Count: number;
  ipv6Count: number;
  /** Slug of an image. */
  os: string;
  portMbps: number;
  location: string;
}

export const vpsOptions = optionSet({
  memoryGb: amount('option1', 'memory in GB'),
  diskGb: amount('option2', 'disk in GB'),
  cpuCores: amount('option3', 'cores'),
  ipv4Count: amount('option4', 'IPv4 addresses', 0),
  ipv6Count: amount('option5', 'IPv6 addresses', 0),
  os: word('option6', 'the slug of an image'),
  portMbps: speedMbps('option7', 'speed, such as 1gbit', 1_000),
  location: word('option8', 'the location of a node'),
});

const mibPerGb = 1_024;

/** The room that a machine of this size takes on a node. */
export function resourcesOf({ cpuCores, memoryGb, diskGb }: VpsOptions): Resources {
  return { cpuCores, memoryMib: memoryGb * mibPerGb, diskGib: diskGb };
}

export const vps = kind<VpsOptions>({
  id: 2,
  type: 'vps',
  isServer: true,
  options: vpsOptions,
  means: {
    problems: systemProblems,
    requireAvailable: (ctx, orders) =>
      requireAvailable(
        ctx,
        orders.map(({ options }) => needsOf(options)),
      ),
    hold: async (tx, organizationId, services) => {
      const needs = services.map(({ id, options }) => ({ id, ...needsOf(options) }));
      await Promise.all([
        requireFewReserved(tx, organizationId, services.map(scarce)),
        reserveAddresses(tx, organizationId, needs),
        reserveResources(tx, organizationId, needs),
      ]);
    },
    giveBack: async (tx, serviceId) => {
      await returnUnusedAddresses(tx, serviceId);
      await releaseResources(tx, serviceId);
    },
  },
  deliver: deliveryWanted,
});

/** What a machine takes of what there is little of: one without an IPv4 address still takes a place. */
function scarce({ options }: { options: VpsOptions }): number {
  return Math.max(1, options.ipv4Count);
}

function needsOf(options: VpsOptions) {
  const { location, ipv4Count, ipv6Count, os: image } = options;
  return { location, ipv4Count, ipv6Count, image, resources: resourcesOf(options) };
}

/** Whether each machine's operating system is on offer and fits into it. */
async function systemProblems(ctx: Context, orders: Order<VpsOptions>[]): Promise<ErrorDetail[][]> {
  if (orders.length === 0) return [];
  const offered = new Map((await listImages(ctx)).map((image) => [image.slug, image]));
  return orders.map(({ options }) => {
    const image = offered.get(options.os);
    const message = image
      ? reasonAgainst(image, resourcesOf(options))
      : `${options.os} is not offered at the moment`;
    return message === null ? [] : [{ field: vpsOptions.keyOf('os'), message }];
  });
}
