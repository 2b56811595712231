import { type Example, exampleIds as ids } from '../../platform/http/index.ts';

const moved = {
  ...{
    service_id: ids.service,
    organization_id: ids.organization,
    state: 'moved',
    reason: null,
    node: 'ams1/n2',
  },
  ...{ live: true, away_s: null, began_at: '2026-01-31T22:02:14.957Z', ended_at: '2026-01-31T22:02:21.101Z' },
};
const waiting = { ...moved, state: 'waiting', node: 'ams1/n1', live: null, began_at: null, ended_at: null };
const begun = {
  ...{ node_id: 2, kind: 'evacuate', cold: false, cluster_id: null, begins_at: null, state: 'running' },
  halted_for: null,
  ...{ started_at: '2026-01-31T22:02:14.957Z', ended_at: null },
  ...{ waiting: 1, moving: 0, moved: 0, stay: 0, machines: [waiting] },
};
const ended = {
  ...{ ...begun, state: 'done', ended_at: '2026-01-31T22:02:21.101Z', waiting: 0, moved: 1 },
  machines: [moved],
};
const staying = {
  ...waiting,
  state: 'stays',
  reason: 'Staff stopped it before its turn',
  ended_at: moved.ended_at,
};

const planned = {
  ...{ service_id: ids.service, organization_id: ids.organization, hostname: 'web1.example.com', runs: true },
  ...{ possible: true, reason: null, snapshots: 1, backups: 2 },
  ...{ loses_copies: { snapshots: 1, backups: 0 } },
  loses: ['Its 1 snapshot', 'The screen in the browser'],
};

/** A request and its answer for each operation. */
export const evacuationExamples = {
  evacuateNode: { params: { id: 2 }, body: { cold: false }, data: { evacuation: begun } },
  getEvacuationPlan: {
    params: { id: 1 },
    query: { cluster_id: 3 },
    data: {
      plan: {
        ...{ node_id: 1, name: 'node-1', cluster_id: 3, cluster: 'ams1' },
        ...{ possible: true, reason: null, machines: [planned] },
      },
    },
  },
  getEvacuation: { params: { id: 2 }, data: { evacuation: ended } },
  stopEvacuation: {
    params: { id: 2 },
    data: {
      evacuation: {
        ...begun,
        state: 'stopped',
        ended_at: moved.ended_at,
        waiting: 0,
        stay: 1,
        machines: [staying],
      },
    },
  },
  restoreNode: { params: { id: 2 }, body: { bring_back: false }, data: { evacuation: ended } },
} satisfies Record<string, Example>;
