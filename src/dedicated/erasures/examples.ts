import { type Example, exampleIds as ids, onlyPage } from '../../platform/http/index.ts';
import { examples } from '../examples.ts';

const id = 4503599627371301;

/** A request and its answer for each operation. */
export const erasureExamples = {
  listErasedDisks: {
    query: { search: 'S6WR' },
    data: {
      disks: [
        {
          ...{ id: 1, proof_id: id, serial: 'S6WRNJ0T', model: 'MZQL2960', bytes: 960_197_124_096 },
          ...{ method: 'sanitize-crypto', ended_at: '2026-06-30T00:08:19.318Z', server_id: 4503599627371201 },
          ...{ server: 'ams2-07', service_id: ids.service, organization_id: ids.organization },
        },
      ],
      ...onlyPage(1),
    },
  },
  getErasureProof: { params: { id }, data: examples.getDedicatedErasure.data },
  getErasureProofPdf: { params: { id }, query: { language: 'en' as const }, data: null },
} satisfies Record<string, Example>;
