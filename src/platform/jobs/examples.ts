import { type Example, exampleIds as ids } from '../http/index.ts';

/** A request and its answer for each operation, parts of one story. */
export const examples = {
  listFailedJobs: {
    data: {
      jobs: [
        {
          id: 4503599627370701,
          name: 'vps.provision',
          state: 'failed',
          organization_id: ids.organization,
          node_id: 1,
          payload: { serviceId: ids.secondService },
          error_step: 'boot',
          error_code: 'internal_error',
          error_message: 'the machine did not start',
          stuck_reason: null,
          created_at: '2026-01-31T12:00:00.000Z',
          finished_at: '2026-01-31T12:04:00.000Z',
        },
      ],
      pages: 1,
      current_page: 1,
      entries: 1,
      total: 1,
      next_cursor: null,
    },
  },
} satisfies Record<string, Example>;
