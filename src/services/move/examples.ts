import { type Example, exampleIds as ids } from '../../platform/http/index.ts';

export const examples = {
  moveService: {
    params: { id: ids.service },
    body: { organization_id: 4503599627370109 },
    data: { moved: true, organization_id: 4503599627370109 },
  },
} satisfies Record<string, Example>;
