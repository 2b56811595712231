import { type Example, exampleIds as ids } from '../../platform/http/index.ts';
import { hosting, service } from '../examples.ts';

const suspended = {
  ...service,
  status: 'suspended',
  suspend_reason: 'Your server sends unsolicited mail',
  suspended_at: '2026-02-03T09:14:02.000Z',
};

export const examples = {
  suspendService: {
    params: { id: ids.service },
    body: { reason: 'Your server sends unsolicited mail' },
    data: { service: suspended },
  },
  unsuspendService: { params: { id: ids.service }, data: { service } },
  terminateService: {
    params: { id: ids.service },
    body: { reason: 'As you asked on the telephone' },
    data: { service: { ...service, status: 'terminated' } },
  },
  finishServiceByHand: {
    params: { id: ids.secondService },
    body: { task: 'suspend' },
    data: { service: { ...hosting, status: 'suspended', suspend_reason: 'Not paid' } },
  },
} satisfies Record<string, Example>;
