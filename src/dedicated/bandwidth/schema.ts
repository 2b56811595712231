import { Type } from 'typebox';
import { TrafficTermsSchema } from '../../catalog/index.ts';
import { Choice, Nullable, named, Strict } from '../../platform/http/index.ts';
import { bandwidthPeriods } from './read.ts';

export const BandwidthQuery = Strict({
  period: Type.Optional(Choice(bandwidthPeriods, { description: 'Default: day' })),
});

const usage = {
  monthlyUsageGB: Type.Number({
    description: 'Sent and received this calendar month (UTC), in units of 1,000,000,000 bytes',
  }),
  monthlyUsageTB: Type.Number({ description: 'The same in units of 1,000,000,000,000 bytes' }),
  monthlyLimitTB: Nullable(
    Type.Number({ description: 'What the price of a month includes; null: nothing is counted against it' }),
  ),
};

export const Bandwidth = named(
  'DedicatedBandwidth',
  Type.Object({
    points: Type.Array(
      named(
        'BandwidthPoint',
        Type.Object({
          time: Type.Integer({ description: 'When it began, in seconds since 1970' }),
          netin: Type.Number({
            description: 'What the server received: bytes a second, the mean of the interval',
          }),
          netout: Type.Number({
            description: 'What the server sent: bytes a second, the mean of the interval',
          }),
        }),
      ),
      { description: 'The oldest first; an interval in which nothing was measured is missing' },
    ),
    ...usage,
  }),
);

const percentile = (what: string) =>
  Nullable(
    Type.Number({
      description: `What the server ${what} this month, in millions of bits a second: one twentieth of its intervals of five minutes had more; null: nothing was measured`,
    }),
  );

export const BandwidthSummary = named(
  'DedicatedBandwidthSummary',
  Type.Object({
    ...usage,
    percentile95_in_mbps: percentile('received'),
    percentile95_out_mbps: percentile('sent'),
    terms: Nullable(TrafficTermsSchema),
  }),
);
