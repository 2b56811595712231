import { exampleServer } from '../../fleet/index.ts';
import type { Example } from '../../platform/http/index.ts';

/** A request and its answer. */
export const staffRescueExamples = {
  rescueServer: {
    params: { id: exampleServer.id },
    body: { enabled: true, ssh_key_ids: [], reason: 'Its memory is to be tested' },
    data: { server: exampleServer, password: 'uPz0rW-8sQeLxk4Tn2Gv' },
  },
} satisfies Record<string, Example>;
