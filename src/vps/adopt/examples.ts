import { type Example, exampleIds as ids } from '../../platform/http/index.ts';

/** A request and its answer for each operation. */
export const adoptExamples = {
  adoptMachine: {
    params: { id: 3 },
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
