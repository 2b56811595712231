import { IdParams, routes } from '../../platform/http/index.ts';
import { acceptMachine, rejectMachine } from './accept.ts';
import { listArrivals, readArrival } from './arrivals.ts';
import { enrolmentExamples } from './examples.ts';
import * as S from './schema.ts';
import { closeEnrolment, openEnrolment, readEnrolment } from './window.ts';

const fleet = { auth: 'staff', area: 'vps', staffRoles: ['administrator', 'operator'] } as const;
const one = { ...fleet, params: IdParams } as const;

const group = {
  tag: 'Staff: enrolment',
  about: 'Machines that start from the network become servers: they wait in a list until staff accepts them.',
  examples: enrolmentExamples,
};

export const enrolmentRoutes = routes('/staff/enrolment', group, (route) => {
  route.get(
    '',
    {
      ...fleet,
      operation: 'getEnrolment',
      summary: 'Get enrolment',
      description:
        'Whether machines that nobody knows may start from the network, and which networks they can start from.',
      data: S.EnrolmentData,
    },
    (ctx) => readEnrolment(ctx),
  );
  route.post(
    '/open',
    {
      ...fleet,
      operation: 'openEnrolment',
      summary: 'Open enrolment',
      description:
        'Lets machines that nobody knows start from the network. They are looked at, and nothing of them is changed. Servers that are known start from their disks as ever.',
      body: S.Opening,
      data: S.EnrolmentData,
      errors: ['conflict'],
    },
    (ctx, req) => openEnrolment(ctx, req.body),
  );
  route.post(
    '/close',
    {
      ...fleet,
      operation: 'closeEnrolment',
      summary: 'Close enrolment',
      description:
        'Nobody who is not known starts from the network any more. Who waits in the list stays there.',
      data: S.EnrolmentData,
    },
    (ctx) => closeEnrolment(ctx),
  );
  route.get(
    '/arrivals',
    {
      ...fleet,
      operation: 'listArrivals',
      summary: 'List machines that arrived',
      description:
        'Machines that started from the network while nobody knew them, the newest first, with what they have.',
      query: S.ArrivalQuery,
      data: S.ArrivalList,
    },
    (ctx, req) => listArrivals(ctx, req.query),
  );
  route.get(
    '/arrivals/:id',
    {
      ...one,
      operation: 'getArrival',
      summary: 'Get machine that arrived',
      description: 'One machine with what its installer measured.',
      data: S.ArrivalData,
      errors: ['not_found'],
    },
    (ctx, req) => readArrival(ctx, req.params.id),
  );
  route.post(
    '/arrivals/:id/accept',
    {
      ...one,
      operation: 'acceptArrival',
      summary: 'Accept machine',
      description:
        'Makes it a server: a new one, or one that was written down and waits. Without `bmc` the machine gives its own BMC a user and a password of ours, over its own bus. ' +
        'The server is `ready` once what the machine prints on its serial line was read through its BMC; otherwise the machine waits again, and `problem` says why. Its disks stay as they are.',
      body: S.Acceptance,
      data: S.ArrivalData,
      errors: ['not_found', 'conflict'],
    },
    (ctx, req) => acceptMachine(ctx, req.params.id, req.body),
  );
  route.post(
    '/arrivals/:id/reject',
    {
      ...one,
      operation: 'rejectArrival',
      summary: 'Reject machine',
      description: 'Sends it away: it starts from its own disks until enrolment is opened anew.',
      data: S.ArrivalData,
      errors: ['not_found', 'conflict'],
    },
    (ctx, req) => rejectMachine(ctx, req.params.id),
  );
});
