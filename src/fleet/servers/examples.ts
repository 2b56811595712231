import { type Example, onlyPage } from '../../platform/http/index.ts';

const id = 4503599627371201;
const rackId = 4503599627371101;

const possible = { allowed: true, reason: null, code: null };
const not = (reason: string) => ({ allowed: false, reason, code: 'conflict' });
const same = 'no difference from the baseline of its profile keeps it out of stock';
const notInRescue = not('ams2-07 is not in the rescue system');
const notForRescue = not(
  'ams2-07 is retired: its customer takes it into the rescue system, or what is at work on it has its end first; its serial line and its power are yours to use where a customer has it, on the record',
);
const sameBmc = not('No other BMC than that of ams2-07 answers at its address');
const idle = 'nothing keeps it from being used';

const server = {
  id,
  name: 'ams2-07',
  serial: 'CZJ9380B7V',
  state: 'waiting',
  reason: null,
  state_since: '2026-01-31T22:04:16.009Z',
  ...{ profile_id: null, profile: null, service_id: null, move_service_id: null },
  ...{ out_of_order: null, in_rescue: false },
  rack_id: rackId,
  rack: 'AMS-2',
  location: 'AMS',
  unit: 7,
  height: 1,
  macs: ['52:54:00:12:34:56', '52:54:00:12:34:57'],
  ports: ['52:54:00:12:34:56', '52:54:00:12:34:57'].map((mac) => ({
    ...{ mac, switch_id: null, switch: null, switch_port: null },
  })),
  bmc: {
    kind: 'ipmi',
    address: '192.0.2.107',
    port: null,
    user: 'innkeeper',
    certificate: null,
    power: null,
    heard_at: null,
    asked_at: null,
    problem: null,
    ...{ uuid: '5f0c1c9a-32f7-4c7b-9d1c-0a1b2c3d4e5f', other_uuid: null },
    ...{ action: null, action_since: null, action_problem: null },
  },
  disks: [],
  note: null,
  hardware: null,
  ...{ start_mac: null, port_mbps: null },
  measured_at: null,
  ...{ hardware_differences: [], seen_at: null },
  ...{ observed: null, observed_at: null, differences: null },
  actions: {
    ...{ place: possible, quarantine: possible },
    ...{ release: not(`ams2-07 is waiting: ${idle}`), retire: possible },
    accept_differences: not(`ams2-07 is waiting: ${same}`),
    ...{ start: possible, stop: possible, restart: possible, console: possible, read: possible },
    ...{ accept_bmc: sameBmc, rescue: possible, rescue_off: notInRescue },
  },
  created_at: '2026-01-31T22:04:16.009Z',
};
const moved = { ...server, unit: 9, height: 2, note: 'Two power supplies' };
const outOfStock = 'it can be put into quarantine while it is waiting, ready or broken';
const quarantined = {
  ...moved,
  state: 'quarantined',
  reason: 'Restarts by itself under load',
  state_since: '2026-01-31T22:05:16.009Z',
  actions: {
    ...{ place: possible, quarantine: not(`ams2-07 is quarantined: ${outOfStock}`) },
    ...{ release: possible, retire: possible },
    accept_differences: not(`ams2-07 is quarantined: ${same}`),
    ...{ start: possible, stop: possible, restart: possible, console: possible, read: possible },
    ...{ accept_bmc: sameBmc, rescue: possible, rescue_off: notInRescue },
  },
};
const disk = {
  ...{ serial: 'S4EVNF0M812345', model: 'MZQL2960HCJR', installed_at: '2026-01-31T22:05:17.009Z' },
  removed_at: null,
};
const onRecord = { ...quarantined, disks: [disk] };
const released = { ...onRecord, state: 'waiting', reason: null, actions: server.actions };
const unswitched = not(
  'ams2-07 is retired: its power can be switched while it is waiting, ready, rented, quarantined, broken',
);
const retired = {
  ...released,
  ...{ state: 'retired', reason: 'Sold', rack_id: null, rack: null, location: null, unit: null, bmc: null },
  actions: {
    ...{
      place: not('ams2-07 is retired: release it first'),
      quarantine: not(`ams2-07 is retired: ${outOfStock}`),
    },
    ...{
      release: possible,
      retire: not('ams2-07 is retired: it can be retired while it is waiting, ready, quarantined, broken'),
    },
    accept_differences: not(`ams2-07 is retired: ${same}`),
    ...{ start: unswitched, stop: unswitched, restart: unswitched },
    console: not('ams2-07 is retired: it has no BMC any more'),
    accept_bmc: not('ams2-07 is retired: it has no BMC any more'),
    ...{ rescue: notForRescue, rescue_off: notForRescue },
    read: not('ams2-07 is retired: it has no BMC any more'),
  },
};

const busy = (what: string) => ({
  ...{ allowed: false, code: 'locked' },
  reason: `ams2-07 ${what} right now: wait until that is done`,
});
/** While its power is switched. */
const switching = (action: 'start' | 'stop' | 'restart', what: string, at: string) => ({
  ...moved,
  bmc: { ...server.bmc, action, action_since: at },
  actions: {
    ...{ ...moved.actions, place: busy(what), retire: busy(what) },
    ...{ start: busy(what), stop: busy(what), restart: busy(what) },
    ...{ rescue: busy(what), rescue_off: busy(what) },
  },
});
const noLimits = { lowCritical: null, lowWarning: null };
const readings = {
  ...{ read_at: '2026-01-31T22:15:16.009Z', asked_at: '2026-01-31T22:15:16.009Z', problem: null },
  sensors: [
    {
      ...{ name: 'CPU Temp', kind: 'temperature', unit: 'celsius', value: 34, state: 'ok' },
      limits: { ...noLimits, highWarning: 112, highCritical: 144 },
    },
  ],
  events: [
    {
      ...{ id: '1', at: '2026-01-31T21:02:11.000Z', subject: 'Power Unit #0x01' },
      message: 'Power off/down',
    },
  ],
};

/** A server as others' examples show it. */
export const exampleServer = server;

/** A request and its answer for each operation, parts of one story. */
export const serverExamples = {
  listServers: { query: { rack_id: rackId }, data: { servers: [server], ...onlyPage(1) } },
  addServer: {
    body: {
      ...{ name: 'ams2-07', serial: 'CZJ9380B7V', rack_id: rackId, unit: 7, macs: server.macs },
      bmc: { kind: 'ipmi', address: '192.0.2.107', user: 'innkeeper', password: 'Kx7vR2mNq9Tz4WbY' },
    },
    data: { server },
  },
  importServers: {
    data: { servers: [{ id: 4503599627371202, name: 'ams2-11' }] },
  },
  getServer: { params: { id }, data: { server } },
  changeServer: {
    params: { id },
    body: { unit: 9, height: 2, note: 'Two power supplies' },
    data: { server: moved },
  },
  quarantineServer: {
    params: { id },
    body: { reason: 'Restarts by itself under load' },
    data: { server: quarantined },
  },
  changeServerDisk: {
    params: { id },
    body: { installed: disk.serial, model: disk.model },
    data: { server: onRecord },
  },
  startServer: {
    params: { id },
    data: { server: switching('start', 'is being started', '2026-01-31T22:04:20.009Z') },
  },
  stopServer: {
    params: { id },
    body: {},
    data: { server: switching('stop', 'is being stopped', '2026-01-31T22:04:30.009Z') },
  },
  restartServer: {
    params: { id },
    body: { force: true },
    data: { server: switching('restart', 'is being restarted', '2026-01-31T22:04:40.009Z') },
  },
  openServerConsole: {
    params: { id },
    body: { reason: 'It does not start, and we look why' },
    data: {
      type: 'serial',
      wss_url: 'wss://panel.example.com/api/console/Vt0jH2kWqX8mZr4nB6sLdY1uPfGe3oCaR7iJxQ5vT9w',
      expires_at: '2026-01-31T22:05:30.000Z',
    },
  },
  acceptServerBmc: {
    params: { id },
    body: { uuid: '5f0c1c9a-32f7-4c7b-9d1c-0a1b2c3d4e5f' },
    data: { server },
  },
  getServerReadings: { params: { id }, data: { readings } },
  readServer: { params: { id }, data: { readings } },
  releaseServer: { params: { id }, data: { server: released } },
  retireServer: { params: { id }, body: { reason: 'Sold' }, data: { server: retired } },
} satisfies Record<string, Example>;
