import type { NewProduct } from '../catalog/index.ts';
import { kinds } from '../services/index.ts';

const euro = { currency: 'EUR', stock: null } as const;

function prices(monthlyMinor: number, setupFeeMinor = 0): NewProduct['prices'] {
  return [
    { cycle: 'monthly', priceMinor: monthlyMinor, setupFeeMinor },
    { cycle: 'quarterly', priceMinor: monthlyMinor * 3, setupFeeMinor },
    { cycle: 'annually', priceMinor: monthlyMinor * 10, setupFeeMinor: 0 },
  ];
}

function integer(key: string, name: string, label: string, min: number, max: number, unitPriceMinor: number) {
  return { key, name, label, kind: 'integer' as const, min, max, step: 1, unitPriceMinor, required: true };
}

function choice(key: string, name: string, label: string, values: Record<string, string>) {
  const choices = Object.entries(values).map(([value, text]) => ({ value, label: text, priceMinor: 0 }));
  return { key, name, label, kind: 'choice' as const, choices, required: true };
}

/** What the demonstration company sells. */
export function demoProducts(
  location: string,
): Record<'vps' | 'dedicated' | 'hosting' | 'domain', NewProduct> {
  return {
    vps: {
      ...euro,
      type: 'Hosting',
      moduleId: kinds.vps.id,
      group: 'Virtual servers',
      name: 'VPS',
      description: 'A virtual server of the size you choose, running within a minute.',
      prices: prices(400),
      options: [
        integer('option1', 'memory_gb', 'Memory (GB)', 1, 8, 200),
        integer('option2', 'storage_gb', 'Storage (GB)', 10, 100, 10),
        integer('option3', 'cpu_cores', 'CPU cores', 1, 4, 150),
        integer('option4', 'ipv4_count', 'IPv4 addresses', 1, 2, 100),
        integer('option5', 'ipv6_count', 'IPv6 addresses', 0, 1, 0),
        choice('option6', 'operating_system', 'Operating system', {
          debian: 'Debian 12',
          tiny: 'Tiny Linux',
        }),
        choice('option7', 'port_speed', 'Port speed', { '1gbit': '1 Gbit/s' }),
        choice('option8', 'location', 'Location', { [location]: location }),
      ],
    },
    dedicated: {
      ...euro,
      type: 'Hosting',
      moduleId: kinds.dedicated.id,
      group: 'Dedicated servers',
      name: 'Dedicated server',
      description: 'A whole machine, prepared by our staff.',
      stock: 3,
      traffic: { billing: 'total', included: 20, priceMinor: 100, direction: 'greater' },
      prices: prices(8_900, 4_900),
      options: [
        integer('option1', 'memory_gb', 'Memory (GB)', 64, 256, 50),
        integer('option2', 'storage_gb', 'Storage (GB)', 960, 3_840, 1),
      ],
    },
    hosting: {
      ...euro,
      type: 'Hosting',
      moduleId: kinds.hosting.id,
      group: 'Web hosting',
      name: 'Web hosting',
      description: 'Space for a web site and its mail.',
      prices: prices(300),
      options: [],
    },
    domain: {
      ...euro,
      type: 'Domain',
      moduleId: kinds.domain.id,
      group: 'Domains',
      name: 'Domain .example',
      description: 'A domain name for a year.',
      prices: [{ cycle: 'annually', priceMinor: 1_200, setupFeeMinor: 0 }],
      options: [],
    },
  };
}
