import { limits } from '../platform/http/index.ts';

const organizationLimits = limits({
  /** Each is a mail to somebody who may not have asked for it. */
  invitation: { quota: 30, windowS: 3_600, per: 'person' },
});

type OrganizationLimits = typeof organizationLimits;

declare module '../platform/http/limits.ts' {
  interface LimitCatalogue extends OrganizationLimits {}
}
