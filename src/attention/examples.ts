import { type Example, exampleIds as ids } from '../platform/http/index.ts';

/** A request and its answer for each operation, parts of one story. */
export const examples = {
  listConcerns: {
    data: {
      concerns: [
        {
          kind: 'job.failed',
          subject: { type: 'job', id: 4503599627370701 },
          organization_id: ids.organization,
          since: '2026-01-31T12:04:00.000Z',
          message: 'vps.provision/boot: the machine did not start',
        },
      ],
      lacks: [
        {
          code: 'tax.rate',
          message:
            'Nobody is charged tax: NL has no rate that counts today. If you charge none, add one of 0.00',
          page: '/staff/tax-rates',
        },
      ],
      house: {
        queue_s: 0.4,
        workers: 1,
        mails: { waiting: 0, failed: 1 },
        backups: { late: 0 },
        low: [
          {
            ...{ kind: 'node', id: 4503599627370801, name: 'node-3', what: 'memory' },
            ...{ taken_percent: 91, free: 5_900, full_in_days: 9 },
          },
        ],
      },
    },
  },
  retryJob: { params: { id: 4503599627370701 }, data: { retried: true } },
  dismissJob: {
    params: { id: 4503599627370701 },
    body: { reason: 'The machine was moved to node-2 by hand' },
    data: { dismissed: true },
  },
} satisfies Record<string, Example>;

export const needExamples = {
  listNeeds: {
    data: {
      needs: [
        {
          ...{ kind: 'service.suspended', id: '4503599627370449', title: 'web1.example.com' },
          ...{ detail: 'An invoice is not paid', on: null },
        },
      ],
    },
  },
} satisfies Record<string, Example>;
