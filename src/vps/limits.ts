import { limits } from '../platform/http/index.ts';

const vpsLimits = limits({
  vps: { quota: 60, windowS: 60, per: 'person' },
  // A picture stops the guest for a moment. Several pages may be open, each of which reads one in four seconds.
  vpsScreen: { quota: 120, windowS: 60, per: 'person' },
});

type VpsLimits = typeof vpsLimits;

declare module '../platform/http/limits.ts' {
  interface LimitCatalogue extends VpsLimits {}
}
