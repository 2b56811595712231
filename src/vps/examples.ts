import { type Example, exampleIds as ids } from '../platform/http/index.ts';

const action = {
  id: ids.stop,
  command: 'stop',
  status: 'queued',
  progress: 0,
  note: null,
  created_at: '2026-01-31T22:02:14.957Z',
  started_at: null,
  finished_at: null,
  error: null,
  initiator: { type: 'api_key', id: 4503599627370602, name: 'Deploys', ip: '127.0.0.1' },
};

const ip = {
  address: '10.77.0.2',
  prefix: 24,
  family: 4,
  gateway: '10.77.0.1',
  mac: '02:77:33:a6:be:b7',
  primary: true,
  dns_name: null,
  shield: { enabled: false, under_attack: false },
};

const settings = {
  hostname: 'web1.example.com',
  boot_order: 'disk',
  auto_backup: { enabled: false, hour: 3, keep: 3 },
  protection: { delete: false, reinstall: false },
  nameservers: ['9.9.9.9', '149.112.112.112'],
  rescue: false,
  notifications: {},
};

/** A request and its answer for each operation, parts of one story. */
export const examples = {
  stopVps: { params: { id: ids.service }, body: { force: false }, data: { action: action } },
  getVpsAction: {
    params: { id: ids.service, action_id: ids.stop },
    data: {
      action: {
        ...action,
        status: 'success',
        progress: 100,
        started_at: '2026-01-31T22:02:14.971Z',
        finished_at: '2026-01-31T22:02:14.978Z',
      },
    },
  },
  startVps: {
    params: { id: ids.service },
    body: {},
    data: {
      action: { ...action, id: 4503599627370604, command: 'start', created_at: '2026-01-31T22:02:15.026Z' },
    },
  },
  restartVps: {
    params: { id: ids.service },
    body: { force: true },
    data: {
      action: { ...action, id: 4503599627370605, command: 'restart', created_at: '2026-01-31T22:02:15.075Z' },
    },
  },
  getVpsConsole: {
    params: { id: ids.service },
    query: { type: 'vnc' },
    data: {
      type: 'vnc',
      wss_url: 'wss://panel.example.com/api/console/nw35CGaycvPu52711c3qRpwoJw1Jws13PNarxH2z_yM',
      expires_at: '2026-01-31T22:02:45.115Z',
    },
  },
  getVpsScreen: { params: { id: ids.service }, data: null },
  reinstallVps: {
    params: { id: ids.service },
    body: { os: 'debian', ssh_key_ids: [ids.sshKey], hostname: 'web1.example.com' },
    data: {
      action: {
        ...action,
        id: 4503599627370606,
        command: 'reinstall',
        created_at: '2026-01-31T22:02:15.125Z',
      },
      password: null,
    },
  },
  getVpsIpAddresses: {
    params: { id: ids.service },
    data: {
      ips: [
        ip,
        {
          ...ip,
          address: 'fd77::77:e34e:feed:c827:51b4',
          prefix: 64,
          family: 6,
          gateway: 'fd77:0:0:77::1',
          primary: false,
        },
      ],
    },
  },
  updateIpAddress: {
    params: { id: ids.service },
    body: { address: '10.77.0.2', dns_name: 'web1.example.com' },
    data: { ip: { ...ip, dns_name: 'web1.example.com' } },
  },
  getVpsOverview: {
    params: { id: ids.service },
    data: {
      vps: {
        service_id: ids.service,
        hostname: 'web1.example.com',
        state: 'running',
        locked: false,
        host_silent_since: null,
        uptime_s: 120,
        read_at: '2026-01-10T09:31:00.000Z',
        os: { slug: 'debian', name: 'Debian', version: '12' },
        location: 'AMS',
        resources: { cpu: 1, memory_mb: 2048, disk_gb: 20, port_mbps: 1000 },
        usage: null,
        recent: {
          interval_s: 120,
          cpu_percent: [...Array<null>(28).fill(null), 3.4, 28.1],
          memory_used_mb: [...Array<null>(28).fill(null), 512, 530],
        },
        traffic: { used_gb: 0, limit_gb: null, resets_at: '2026-02-10T00:00:00.000Z' },
        ips: [
          { ...ip, dns_name: 'web1.example.com' },
          {
            ...ip,
            address: 'fd77::77:e34e:feed:c827:51b4',
            prefix: 64,
            family: 6,
            gateway: 'fd77:0:0:77::1',
            primary: false,
          },
        ],
        current_action: null,
        actions: {
          start: {
            allowed: false,
            reason: 'The machine is running; start is possible when it is stopped or error',
            code: 'action_not_allowed',
          },
          stop: { allowed: true, reason: null, code: null },
          restart: { allowed: true, reason: null, code: null },
          reinstall: { allowed: true, reason: null, code: null },
          create_snapshot: { allowed: true, reason: null, code: null },
          delete_snapshot: { allowed: true, reason: null, code: null },
          restore_snapshot: { allowed: true, reason: null, code: null },
          create_backup: { allowed: true, reason: null, code: null },
          reset_password: { allowed: true, reason: null, code: null },
          update_access: { allowed: true, reason: null, code: null },
          rename: { allowed: true, reason: null, code: null },
          resize: { allowed: true, reason: null, code: null },
          force_stop: { allowed: true, reason: null, code: null },
        },
      },
    },
  },
  getPerformanceCharts: {
    params: { id: ids.service },
    query: { period: 'hour' },
    data: { interval_s: 10, points: [] },
  },
  getVpsActionHistory: {
    params: { id: ids.service },
    query: { limit: 2 },
    data: {
      actions: [
        {
          ...action,
          id: 4503599627370606,
          command: 'reinstall',
          status: 'success',
          progress: 100,
          created_at: '2026-01-31T22:02:15.125Z',
          started_at: '2026-01-31T22:02:15.144Z',
          finished_at: '2026-01-31T22:02:15.193Z',
        },
        {
          ...action,
          id: 4503599627370605,
          command: 'restart',
          status: 'success',
          progress: 100,
          created_at: '2026-01-31T22:02:15.075Z',
          started_at: '2026-01-31T22:02:15.084Z',
          finished_at: '2026-01-31T22:02:15.092Z',
        },
      ],
      pages: 3,
      current_page: 1,
      entries: 2,
      total: 5,
      next_cursor: 'WyIyMDI2LTExLTIxVDIyOjAyOjE1LjA3NVoiLDkyOTQ3OTkwMTI4MTY2OV0',
    },
  },
  createSnapshot: {
    params: { id: ids.service },
    body: { name: 'before-upgrade', description: 'Before the new kernel' },
    data: {
      action: {
        ...action,
        id: 4503599627370607,
        command: 'create_snapshot',
        created_at: '2026-01-31T22:04:15.293Z',
      },
    },
  },
  getSnapshots: {
    params: { id: ids.service },
    data: {
      snapshots: [
        {
          name: 'before-upgrade',
          kind: 'snapshot',
          description: 'Before the new kernel',
          created_at: '2026-01-31T22:04:15.295Z',
          size_bytes: 20971520,
          state: 'ready',
          parent: null,
        },
      ],
      limit: 5,
    },
  },
  getSnapshot: {
    params: { id: ids.service, name: 'before-upgrade' },
    data: {
      snapshot: {
        name: 'before-upgrade',
        kind: 'snapshot',
        description: 'Before the new kernel',
        created_at: '2026-01-31T22:04:15.295Z',
        size_bytes: 20971520,
        state: 'ready',
        parent: null,
      },
    },
  },
  restoreSnapshot: {
    params: { id: ids.service, name: 'before-upgrade' },
    data: {
      action: {
        ...action,
        id: 4503599627370608,
        command: 'restore_snapshot',
        created_at: '2026-01-31T22:04:15.346Z',
      },
    },
  },
  deleteSnapshot: {
    params: { id: ids.service, name: 'before-upgrade' },
    data: {
      action: {
        ...action,
        id: 4503599627370609,
        command: 'delete_snapshot',
        created_at: '2026-01-31T22:04:15.393Z',
      },
    },
  },
  getVpsSettings: { params: { id: ids.service }, data: { settings: settings } },
  updateVpsSettings: {
    params: { id: ids.service },
    body: { auto_backup: { enabled: true, hour: 3, keep: 7 }, protection: { delete: false } },
    data: {
      settings: {
        ...settings,
        auto_backup: { enabled: true, hour: 3, keep: 7 },
        protection: { delete: false, reinstall: false },
      },
    },
  },
  resetVpsPassword: {
    params: { id: ids.service },
    body: {},
    data: {
      action: {
        ...action,
        id: 4503599627370610,
        command: 'reset_password',
        created_at: '2026-01-31T22:04:15.484Z',
      },
      password: 'XugjWbAkJ1D0JwtWqH7n',
    },
  },
  updateVpsSshKeys: {
    params: { id: ids.service },
    body: { ssh_key_ids: [ids.sshKey] },
    data: {
      action: {
        ...action,
        id: 4503599627370611,
        command: 'update_access',
        created_at: '2026-01-31T22:04:15.568Z',
      },
    },
  },
  getVpsSshKeys: {
    params: { id: ids.service },
    data: {
      keys: [
        {
          id: ids.sshKey,
          name: 'laptop',
          fingerprint: 'SHA256:HEqsoJuZ6Uvx5eolb7+OKmiWRnG6RFYAjVXOCeM7P6s',
          installed: true,
        },
      ],
    },
  },
} satisfies Record<string, Example>;
