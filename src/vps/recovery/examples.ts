import { type Example, exampleIds as ids } from '../../platform/http/index.ts';

const machine = {
  ...{ service_id: ids.service, organization_id: ids.organization, hostname: 'web1.example.com' },
  ...{ backup: 'backup-2026-01-31', backup_at: '2026-01-31T03:00:04.112Z' },
};
const lost = { ...machine, kept_on: 'ams1/n2', node: null, left_over: null, ended_at: null };
const recovery = { node_id: 2, name: 'ams1/n1', possible: true, reason: null };

/** A request and its answer for each operation. */
export const recoveryExamples = {
  getNodeRecovery: {
    params: { id: 2 },
    data: { recovery: { ...recovery, machines: [{ ...lost, state: 'possible', reason: null }] } },
  },
  recoverNode: {
    params: { id: 2 },
    body: { confirm: 'ams1/n1', service_ids: [ids.service] },
    data: {
      recovery: {
        ...recovery,
        machines: [{ ...lost, state: 'running', reason: null, kept_on: null, node: 'ams1/n1' }],
      },
    },
  },
} satisfies Record<string, Example>;
