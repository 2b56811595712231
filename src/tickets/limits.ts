import { limits } from '../platform/http/index.ts';

const ticketLimits = limits({
  /** Each is a mail to the provider's people. */
  ticket: { quota: 60, windowS: 3_600, per: 'person' },
});

type TicketLimits = typeof ticketLimits;

declare module '../platform/http/limits.ts' {
  interface LimitCatalogue extends TicketLimits {}
}
