import { type Example, exampleIds as ids, onlyPage, routes } from '../../platform/http/index.ts';
import * as S from './schema.ts';
import { listInstallations } from './underWay.ts';

const examples = {
  listInstallations: {
    data: {
      installations: [
        {
          ...{ job_id: 4503599627370731, job: 'dedicated.provision', since: '2026-01-31T22:02:14.957Z' },
          ...{ server_id: 4503599627371201, server: 'ams2-07', rack_id: 4503599627371101, rack: 'AMS 2' },
          ...{ service_id: ids.service, task: 'install' as const, step: 'write', bytes: 120_000_000 },
          ...{ of_bytes: 310_000_000, disks: 2, wiped: 2, tries: 1, heard_at: '2026-01-31T22:04:12.310Z' },
          ...{ waits_for: 'installer' as const, message: null },
        },
      ],
      ...onlyPage(1),
    },
  },
} satisfies Record<string, Example>;

const group = { tag: 'Staff: servers', examples };

export const installationRoutes = routes('/staff/installations', group, (route) => {
  route.get(
    '',
    {
      auth: 'staff',
      area: 'vps',
      staffRoles: ['administrator', 'operator'],
      operation: 'listInstallations',
      summary: 'List installations under way',
      description:
        'Servers that are being installed, wiped, rescued or moved to, with how far each is and what it waits for. What came to its end is in the history of its service, and what failed in the list of jobs.',
      query: S.InstallationQuery,
      data: S.InstallationList,
    },
    (ctx, req) => listInstallations(ctx, req.query),
  );
});
