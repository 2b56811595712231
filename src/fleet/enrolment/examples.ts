import { type Example, onlyPage } from '../../platform/http/index.ts';

const id = 4503599627371301;
const moment = '2026-01-31T22:04:16.009Z';

const closed = {
  is_open: false,
  opened_at: null,
  open_until: null,
  networks: [
    {
      ...{ name: 'node-1', interface: 'eth1', address: '10.78.0.1', problem: null, seen_at: moment },
      is_served: true,
    },
  ],
};
const opened = { ...closed, is_open: true, opened_at: moment, open_until: '2026-02-01T06:04:16.009Z' };

const possible = { allowed: true, reason: null, code: null };
const not = (reason: string) => ({ allowed: false, reason, code: 'conflict' });

const arrival = {
  ...{ id, state: 'waiting', mac: '52:54:00:12:34:66', serial: 'CZJ9380B7W', is_there: true },
  ...{ alike: [], problem: null, server_id: null, server: null },
  hardware: {
    system: {
      uuid: '5f0c1c9a-32f7-4c7b-9d1c-0a1b2c3d4e5f',
      ...{ vendor: 'Example', product: 'R1', serial: 'CZJ9380B7W' },
    },
    firmware: { version: '2.14', boot: 'uefi' },
    processor: { model: 'Example 7313P', sockets: 1, cores: 16, threads: 32 },
    memory_mib: 64_228,
    memory_modules: [{ slot: 'DIMM A1', mib: 65_536, type: 'DDR4' }],
    disks: [
      {
        ...{ serial: 'S4EVNF0M812346', model: 'MZQL2960HCJR', firmware: 'GDC5602Q', bytes: 960_197_124_096 },
        ...{ kind: 'nvme', healthy: true },
      },
    ],
    ports: [{ name: 'eth0', mac: '52:54:00:12:34:66', linked: true, speed_mbps: 10_000 }],
    boot_order: ['network', 'disk'],
    bmc: { firmware: '2.88', address: '192.0.2.108', mac: '52:54:00:12:34:67' },
  },
  plugged: [
    { mac: '52:54:00:12:34:66', switch_id: 4503599627371401, switch: 'ams2-sw1', switch_port: 'swp8' },
  ],
  actions: { accept: possible, reject: possible },
  ...{ arrived_at: moment, seen_at: moment, decided_at: null },
};
const accepting = 'The machine 4503599627371301 is accepted: it is being enrolled';
const accepted = {
  ...arrival,
  ...{ state: 'accepted', server_id: 4503599627371203, server: 'ams2-08', decided_at: moment },
  actions: { accept: not(accepting), reject: not(accepting) },
};
const sentAway =
  'The machine 4503599627371301 is rejected: have it start from the network again after enrolment was opened anew';
const rejected = {
  ...arrival,
  ...{ state: 'rejected', is_there: false, decided_at: moment },
  actions: { accept: not(sentAway), reject: not(sentAway) },
};

/** A request and its answer for each operation. */
export const enrolmentExamples = {
  getEnrolment: { data: { enrolment: closed } },
  openEnrolment: { body: { hours: 8 }, data: { enrolment: opened } },
  closeEnrolment: { data: { enrolment: closed } },
  listArrivals: { query: { state: 'waiting' }, data: { arrivals: [arrival], ...onlyPage(1) } },
  getArrival: { params: { id }, data: { arrival } },
  acceptArrival: {
    params: { id },
    body: { name: 'ams2-08', rack_id: 4503599627371101, unit: 8 },
    data: { arrival: accepted },
  },
  rejectArrival: { params: { id }, data: { arrival: rejected } },
} satisfies Record<string, Example>;
