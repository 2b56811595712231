import { type Example, exampleIds as ids } from '../../platform/http/index.ts';

/** A request and its answer for each operation. */
export const adoptExamples = {
  getUnknownMachine: {
    params: { id: 3 },
    data: {
      unknown_machine: {
        id: 3,
        machine: `vps-${ids.service}-2`,
        node_id: 4,
        node: 'ams1/n2',
        answers: true,
        addresses: ['203.0.113.10'],
        service_id: ids.service,
        hostname: 'web.example.com',
        old_copy: {
          machine: `vps-${ids.service}`,
          node_id: 1,
          node: 'node-1',
          state: 'error',
          power: 'stopped',
        },
        confirm: null,
        actions: { adopt: { allowed: true, reason: null, code: null } },
        found_at: '2026-09-18T07:12:44.000Z',
      },
    },
  },
  adoptMachine: {
    params: { id: 3 },
    body: {},
    data: {
      adopted: {
        service_id: ids.service,
        machine: `vps-${ids.service}-2`,
        node: 'ams1/n2',
        old_copy: `vps-${ids.service}`,
      },
    },
  },
} satisfies Record<string, Example>;
