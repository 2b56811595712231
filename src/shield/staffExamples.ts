import { type Example, onlyPage } from '../platform/http/index.ts';

const product = {
  id: 1,
  name: 'VPS',
  level: null,
  mode: 'enabled',
  mitigation: null,
  thresholds: { udp: { pps: 40_000 } },
};

export const staffExamples = {
  listShieldProducts: { data: { products: [product], ...onlyPage(1) } },
  getShieldProduct: { params: { id: 1 }, data: { product } },
  updateShieldProduct: {
    params: { id: 1 },
    body: { mode: 'enabled', thresholds: { udp: { pps: 40_000 } } },
    data: { product },
  },
} satisfies Record<string, Example>;
