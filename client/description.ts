import { allRoutes } from '../src/api.ts';
import { describeMessages } from '../src/events/index.ts';
import { introduction } from '../src/introduction.ts';
import { describeApi, listRoutes, type RequestFields, requestFields } from '../src/platform/http/index.ts';
import { version } from '../src/version.ts';

/** The description as a product with this version gives it, of an installation that is nobody's. */
export function ourDescription() {
  const info = introduction(version, 'https://panel.example.com');
  return describeApi(listRoutes(allRoutes), info, describeMessages());
}

/** What forms know of the request of each operation. */
export function ourFields(): ReadonlyMap<string, RequestFields> {
  return requestFields(listRoutes(allRoutes));
}
