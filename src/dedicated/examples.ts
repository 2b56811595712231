import { type Example, exampleIds as ids, onlyPage } from '../platform/http/index.ts';

const params = { id: ids.service };
const action = {
  ...{ id: 4503599627371601, command: 'stop', status: 'running', progress: 0, note: null },
  ...{ created_at: '2026-01-31T22:02:14.957Z', started_at: '2026-01-31T22:02:14.957Z' },
  ...{ finished_at: null, error: null },
  initiator: { type: 'api_key', id: 4503599627370602, name: 'Deploys', ip: '127.0.0.1' },
};
const done = { ...action, status: 'success', progress: 100, finished_at: '2026-01-31T22:03:02.410Z' };
const ip = {
  ...{ address: '10.77.0.2', prefix: 24, family: 4, gateway: '10.77.0.1', mac: '3c:ec:ef:10:20:30' },
  ...{ primary: true, dns_name: null, shield: { enabled: false, under_attack: false } },
};
const possible = { allowed: true, reason: null, code: null };

/** A request and its answer for each operation, parts of one story. */
export const examples = {
  getDedicatedOverview: {
    params,
    data: {
      dedicated: {
        ...{ service_id: ids.service, read_at: '2026-01-31T22:05:00.000Z', hostname: 'big1.example.com' },
        ...{
          state: 'running',
          locked: false,
          os: { slug: 'tiny', name: 'Tiny Linux', version: '1.0' },
          system: { vendor: 'Supermicro', product: 'AS-1015A' },
          problem: null,
          location: 'AMS',
          ips: [ip],
        },
        traffic: { used_gb: 8_412.5, limit_gb: 20_000, resets_at: '2026-02-01T00:00:00.000Z' },
        power: { state: 'on', heard_at: '2026-01-31T22:04:12.310Z', silent: false },
        ...{ delivery: null, current_action: null },
        actions: {
          start: {
            allowed: false,
            reason: 'The server is running; start is possible when it is stopped or error',
            code: 'action_not_allowed',
          },
          ...{ stop: possible, restart: possible, reinstall: possible, rescue: possible, console: possible },
          rescue_off: {
            allowed: false,
            reason: 'The server is not in the rescue system',
            code: 'action_not_allowed',
          },
        },
      },
    },
  },
  startDedicatedServer: {
    params,
    body: {},
    data: { action: { ...action, id: 4503599627371602, command: 'start' } },
  },
  stopDedicatedServer: { params, body: { force: false }, data: { action } },
  restartDedicatedServer: {
    params,
    body: { force: true },
    data: { action: { ...action, id: 4503599627371603, command: 'restart' } },
  },
  reinstallDedicatedServer: {
    params,
    body: {
      ...{ os: 'tiny', ssh_key_ids: [ids.sshKey], hostname: 'big1.example.com', confirm: 'big1.example.com' },
      disks: { layout: 'raid1', serials: ['S6WRNJ0T', 'S6WRNJ1K'] },
    },
    data: { action: { ...action, id: 4503599627371604, command: 'reinstall' }, password: null },
  },
  rescueDedicatedServer: {
    params,
    body: { enabled: true, ssh_key_ids: [] },
    data: {
      action: { ...action, id: 4503599627371605, command: 'rescue' },
      password: 'uPz0rW-8sQeLxk4Tn2Gv',
    },
  },
  getDedicatedConsole: {
    params,
    data: {
      type: 'serial',
      wss_url: 'wss://panel.example.com/api/console/9c1GgPzQm3oXb7sTJ5n0aYw2eKf8hLdVrU4iNqZ6xMk',
      expires_at: '2026-01-31T22:05:30.000Z',
    },
  },
  getDedicatedCredentials: {
    params,
    data: {
      credentials: {
        ...{ username: 'root', available: true, made_at: '2026-01-31T21:48:05.120Z' },
        ...{ shown_at: null, shown_to: null },
      },
    },
  },
  showDedicatedCredentials: {
    params,
    data: { credentials: { username: 'root', password: 'q7Xw-2LmT9pVdK4sRb1A' } },
  },
  getDedicatedSensors: {
    params,
    data: {
      sensors: [
        {
          ...{ name: 'CPU Temp', kind: 'temperature', unit: 'celsius', value: 41, state: 'ok' },
          limits: { lowCritical: null, lowWarning: null, highWarning: 85, highCritical: 95 },
        },
      ],
      ...{ read_at: '2026-01-31T22:00:00.000Z', silent: false },
    },
  },
  getDedicatedHardware: {
    params,
    data: {
      hardware: {
        system: { vendor: 'Supermicro', product: 'AS-1015A', serial: 'S123456X' },
        firmware: { version: '2.1', boot: 'uefi' },
        processor: { model: 'AMD EPYC 7313P', sockets: 1, cores: 16, threads: 32 },
        ...{ memory_mib: 65_214, memory_modules: [{ slot: 'A1', mib: 65_536, type: 'DDR4' }] },
        disks: [
          {
            ...{ serial: 'S6WRNJ0T', model: 'MZQL2960', firmware: 'GDC5', kind: 'nvme', healthy: true },
            bytes: 960_197_124_096,
          },
        ],
        ports: [{ name: 'eth0', mac: '3c:ec:ef:10:20:30', linked: true, speed_mbps: 10_000 }],
      },
      measured_at: '2026-01-20T10:00:00.000Z',
      differences: [
        {
          ...{ part: 'disk', name: 'S6WRNJ0T', was: 'MZQL2960 (nvme, 960 GB)', is: null },
          before: {
            ...{ model: 'MZQL2960', kind: 'nvme', bytes: 960_197_124_096, healthy: true, mib: null },
            ...{ type: null, sockets: null, cores: null, threads: null },
          },
          after: null,
          seen_at: '2026-01-31T22:03:41.007Z',
        },
      ],
      seen_at: '2026-01-31T22:03:41.007Z',
    },
  },
  getDedicatedErasure: {
    params,
    data: {
      erasure: {
        ...{ service_id: ids.service, hostname: 'big1.example.com' },
        system: { vendor: 'Supermicro', product: 'AS-1015A', serial: 'S123456X' },
        ...{ began_at: '2026-06-30T00:05:12.204Z', ended_at: '2026-06-30T00:09:41.870Z' },
        disks: [
          {
            ...{ model: 'MZQL2960', serial: 'S6WRNJ0T', bytes: 960_197_124_096, method: 'sanitize-crypto' },
            ...{ drive_status: 'passed', marks: 1_024, marks_left: 0, not_zero: 1_024 },
            tried: [{ method: 'sanitize-crypto', exit: 0, log: '' }],
            ...{ began_at: '2026-06-30T00:08:02.318Z', ended_at: '2026-06-30T00:08:19.318Z', seconds: 17 },
          },
        ],
      },
      signature: {
        jws: 'eyJhbGciOiJFZERTQSJ9.eyJpc3MiOiJFeGFtcGxlIEhvc3RpbmcifQ.Vn2hRWxsbzYw',
        key_id: 'kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k',
        keys_url: 'https://example.com/api/erasure-keys',
      },
    },
  },
  getDedicatedErasurePdf: { params, query: { language: 'en' }, data: null },
  listErasureKeys: { data: null },
  getDedicatedIpAddresses: { params, data: { ips: [ip] } },
  updateDedicatedIpAddress: {
    params,
    body: { address: '10.77.0.2', dns_name: 'big1.example.com' },
    data: { ip: { ...ip, dns_name: 'big1.example.com' } },
  },
  getDedicatedActionHistory: {
    params,
    query: {},
    data: { actions: [done], ...onlyPage(1) },
  },
  getDedicatedAction: { params: { ...params, action_id: action.id }, data: { action: done } },
} satisfies Record<string, Example>;
