import { type Example, exampleIds as ids } from '../../platform/http/index.ts';

const params = { id: ids.service };
const usage = { monthlyUsageGB: 8_412.5, monthlyUsageTB: 8.4125, monthlyLimitTB: 20 };

const terms = { billing: 'total', included: 20, price: '1.50', currency: 'EUR', direction: null };

/** A request and its answer for each operation, parts of one story. */
export const examples = {
  getDedicatedBandwidth: {
    params,
    query: { period: 'day' },
    data: {
      points: [
        { time: 1_769_896_500, netin: 1_204_883.2, netout: 9_730_112.4 },
        { time: 1_769_896_800, netin: 1_188_204.9, netout: 9_641_007.1 },
      ],
      ...usage,
    },
  },
  getDedicatedBandwidthSummary: {
    params,
    data: { ...usage, percentile95_in_mbps: 14.2, percentile95_out_mbps: 91.7, terms },
  },
} satisfies Record<string, Example>;
