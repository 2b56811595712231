import { type Example, exampleIds as ids } from '../../platform/http/index.ts';

const action = {
  ...{ id: 4503599627371690, command: 'move', status: 'running', progress: 0, note: null },
  ...{ created_at: '2026-01-31T22:02:14.957Z', started_at: '2026-01-31T22:02:14.957Z' },
  ...{ finished_at: null, error: null },
  initiator: { type: 'staff', id: null, name: null, ip: null },
};

/** A request and its answer for each operation. */
export const moveExamples = {
  moveServer: {
    params: { id: 1 },
    body: { to_server_id: 2, reason: 'Restarts by itself under load', confirm: 'r1' },
    data: { action },
  },
  getServerMove: {
    params: { id: 1 },
    data: {
      move: {
        ...{ server_id: 1, service_id: ids.service, hostname: 'big1.example.com' },
        ...{ possible: true, reason: null, action: null, last: null },
        servers: [{ id: 2, name: 'r2', profile: 'M-64', rack: 'A1' }],
      },
    },
  },
} satisfies Record<string, Example>;
