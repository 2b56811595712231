import { allRoutes } from '../src/api.ts';
import { describeMessages } from '../src/events/index.ts';
import { introduction } from '../src/introduction.ts';
import { describeApi, listRoutes } from '../src/platform/http/index.ts';
import { version } from '../src/version.ts';

/** The description as a product with this version gives it, of an installation that is nobody's. */
export function ourDescription() {
  const info = introduction(version, 'https://panel.example.com');
  return describeApi(listRoutes(allRoutes), info, describeMessages());
}
