import { type Example, onlyPage } from '../../platform/http/index.ts';

const id = 4503599627371301;

const shown = {
  id,
  name: 'ams2-sw1',
  location: 'AMS',
  address: '192.0.2.4',
  port: 161,
  user: 'innkeeper',
  auth_protocol: 'sha256',
  note: null,
  check: { state: 'checking', checked_at: null, problem: null },
  description: null,
  isolation: null,
  heard_at: null,
  ports: 0,
  created_at: '2026-01-31T22:04:18.009Z',
};
const credential = {
  ...{ user: 'innkeeper', auth_protocol: 'sha256' },
  ...{ auth_passphrase: 'correct horse 1', privacy_passphrase: 'battery staple 2' },
};
const port = {
  name: 'Ethernet7',
  label: 'ams2-07',
  is_up: true,
  speed_mbps: 10_000,
  in_mbps: 241.7,
  out_mbps: 18.2,
  server_id: 4503599627371201,
  server: 'ams2-07',
  mac: '52:54:00:12:34:56',
  read_at: '2026-01-31T22:05:18.009Z',
  gone_at: null,
};

/** A request and its answer for each operation, parts of one story. */
export const switchExamples = {
  listSwitches: { query: { location: 'AMS' }, data: { switches: [shown], ...onlyPage(1) } },
  addSwitch: {
    body: { name: 'ams2-sw1', location: 'AMS', address: '192.0.2.4', credential },
    data: { switch: shown },
  },
  getSwitch: { params: { id }, data: { switch: shown } },
  changeSwitch: {
    params: { id },
    body: { note: 'Top of the rack' },
    data: { switch: { ...shown, note: 'Top of the rack' } },
  },
  checkSwitch: { params: { id }, data: { switch: { ...shown, note: 'Top of the rack' } } },
  removeSwitch: { params: { id }, data: {} },
  listSwitchPorts: { params: { id }, data: { ports: [port], ...onlyPage(1) } },
  plugSwitchPort: { params: { id }, body: { port: port.name, mac: port.mac }, data: { port } },
} satisfies Record<string, Example>;
