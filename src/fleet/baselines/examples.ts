import type { Example } from '../../platform/http/index.ts';
import { profileExamples } from '../profiles/examples.ts';
import { serverExamples } from '../servers/examples.ts';

const moment = '2026-01-31T22:05:15.830Z';
const baseline = {
  ...{ firmware: '2.14.0', boot: 'uefi', bmc_firmware: '9.08' },
  disk_firmware: [{ model: 'MZQL2960HCJR', version: 'GDC5602Q' }],
  ...{ boot_order: ['network', 'disk'], bmc_users: [], cipher_suites: [3, 17], services: null },
};
const { profile } = profileExamples.getServerProfile.data;
const { server } = serverExamples.getServer.data;

/** A request and its answer for each operation. */
export const baselineExamples = {
  takeServerBaseline: {
    params: { id: profile.id },
    body: { server_id: server.id },
    data: { profile: { ...profile, baseline, baseline_from: 'ams2-07', baseline_at: moment } },
  },
  acceptServerDifferences: {
    params: { id: server.id },
    body: { as_baseline: false },
    data: { server: { ...server, state: 'ready', observed: baseline, observed_at: moment } },
  },
} satisfies Record<string, Example>;
