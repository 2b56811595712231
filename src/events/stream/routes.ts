import { Type } from 'typebox';
import { eventStream, Id, routes, Strict } from '../../platform/http/index.ts';
import { examples } from '../examples.ts';
import type { Hears } from './clients.ts';
import type { BesideJournal } from './hub.ts';
import { openAllEvents, openEvents } from './open.ts';

const group = {
  tag: 'Events',
  about: 'What happens in an organization, told within a moment over a connection that stays open.',
  examples,
};

const After = Type.Optional(
  Type.Integer({
    ...{ minimum: 0, maximum: Number.MAX_SAFE_INTEGER },
    description:
      'The last `id` you have, where the header `Last-Event-ID` cannot be sent, which counts before this. `events_position` of ' +
      'your account is one from before anything else was read',
  }),
);

const EventsQuery = Strict({
  after: After,
  organization_id: Type.Optional({
    ...Id,
    description: 'Your organization, where the header cannot be sent, as by EventSource in browsers',
  }),
  watch: Type.Optional(
    Type.String({
      pattern: '^[a-z]{1,20}:[1-9]\\d{0,15}$',
      'x-message': 'must be what you look at, such as vps:4503599627370449',
      description:
        'Also brings the newest samples of a machine, as events `vps.sample`, and `vps.screen` when its screen looks otherwise, ' +
        'for those who may open its console: `vps:` and its id. With `shield:` and its id `shield.seen` when the edge has done or counted ' +
        'something at its addresses',
    }),
  ),
});

/** Streams of events; rooms declare what can be watched beside them, and what goes on without an entry of the journal. */
export const eventRoutes = (beside: BesideJournal) =>
  routes('/dashboard/events', group, (route) => {
    route.get(
      '',
      {
        auth: 'organization',
        organization: 'header-or-query',
        operation: 'followEvents',
        summary: 'Follow events',
        description:
          'Server-sent events, one for each thing that happens in the organization and that your role may see: those ' +
          'that stand under `webhooks`, with the same `type`, `timestamp` and `data`, and their `id`. How far an action on a ' +
          'machine has come is told as `vps.action.progress`, at most about once a second and without an `id`: its `data` has ' +
          '`action_id`, `command`, `status`, `progress` and `note` as the history shows them. Send the last ' +
          '`id` you have as `Last-Event-ID` (EventSource does) and nothing is lost or repeated. An event `reset` says that ' +
          'what you missed is not kept any more: read anew what you show. Comments come every fifteen seconds; a ' +
          'stream that is not read is closed, and so is that of somebody who may not see it any more.',
        query: EventsQuery,
        produces: eventStream,
        errors: ['not_found', 'forbidden', 'permission_denied', 'rate_limited'],
      },
      (ctx, { query, principal, headers, stream }) =>
        openEvents(ctx, query.watch, { principal, headers, stream, beside, after: query.after }),
    );
  });

const staffGroup = { tag: 'Staff: events', about: 'What happens everywhere, as it happens.', examples };

/** `hears` says how much of an event somebody of staff is told. */
export const eventStaffRoutes = (hears: Hears, beside: BesideJournal) =>
  routes('/staff/events', staffGroup, (route) => {
    route.get(
      '',
      {
        auth: 'staff',
        operation: 'followAllEvents',
        summary: 'Follow all events',
        description:
          'Server-sent events of the whole journal, also of what customers are not told. Administrators get all that it ' +
          'has of them; others hear of what they may read, with `organization_id` and `subject` as `data`. ' +
          '`Last-Event-ID` and `reset` are as for customers.',
        query: Strict({ after: After }),
        produces: eventStream,
        errors: ['rate_limited'],
      },
      (ctx, { query, principal, headers, stream }) =>
        openAllEvents(ctx, hears, { principal, headers, stream, beside, after: query.after }),
    );
  });
