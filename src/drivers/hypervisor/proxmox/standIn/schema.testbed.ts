import { isIP } from 'node:net';
import { list, maybe, number, oneOf, properties, type Rules, text, whole, yes } from './rules.testbed.ts';

/** A call of the API: its parameters, and whom it lets in: a right, or one of several, on a path; null: everybody. */
export interface Method {
  parameters: Rules;
  rights: { path: string; anyOf: readonly string[] } | null;
}

const matching = (pattern: RegExp, what: string) => (value: string) =>
  pattern.test(value) ? null : `invalid format - value does not look like a valid ${what}`;
const hostLabel = '[a-zA-Z0-9]([a-zA-Z0-9-]*[a-zA-Z0-9])?';

const node = text({ format: matching(new RegExp(`^${hostLabel}$`), 'node name') });
const vmid = whole(100, 999_999_999);
const storageId = text({ format: matching(/^[a-z][a-z0-9\-_.]*[a-z0-9]$/i, 'storage ID') });
const configId = text({ maxLength: 40, format: matching(/^[a-z][a-z0-9_-]+$/i, 'configuration ID') });
const configIds = text({
  format: matching(/^[a-z][a-z0-9_-]+([,; ]+[a-z][a-z0-9_-]+)*$/i, 'configuration ID'),
});
const volume = /^([a-z][a-z0-9\-_.]*[a-z0-9]):(.+)$/i;
const setName = text({ minLength: 2, maxLength: 64, pattern: /[A-Za-z][A-Za-z0-9\-_]+/ });
const cidr = text({
  format: (value) => {
    const [address = '', bits] = value.split('/');
    const most = isIP(address) === 4 ? 32 : 128;
    const isWhole = isIP(address) > 0 && (bits === undefined || (/^\d+$/.test(bits) && Number(bits) <= most));
    return isWhole ? null : 'invalid format - value does not look like a valid IP address or CIDR network';
  },
});
const tags = text({ format: matching(/^[a-z0-9_][a-z0-9_\-+.]*([,; ]+[a-z0-9_][a-z0-9_\-+.]*)*$/i, 'tag') });
const macAddress = text({
  format: matching(/^[a-f0-9][02468ace](:[a-f0-9]{2}){5}$/i, 'unicast MAC address'),
});

const drive = {
  file: text({ format: matching(new RegExp(`${volume.source}|^none$|^cdrom$`, 'i'), 'volume') }),
  'import-from': maybe(text({ format: matching(volume, 'volume') })),
  media: maybe(oneOf('cdrom', 'disk')),
  discard: maybe(oneOf('ignore', 'on')),
  size: maybe(text({ format: matching(/^\d+(\.\d+)?[KMGT]?$/, 'disk size') })),
};
const card = {
  virtio: macAddress,
  bridge: maybe(text({ format: matching(/^[-_.\w\d]{1,15}$/, 'bridge name') })),
  firewall: maybe(yes),
  rate: maybe(number(0)),
};

/** Settings of a machine, as far as we write them. */
const settings: Rules = {
  name: maybe(text({ format: matching(new RegExp(`^(${hostLabel}\\.)*${hostLabel}$`), 'DNS name') })),
  tags: maybe(tags),
  description: maybe(text({ maxLength: 8_192 })),
  cores: maybe(whole(1)),
  memory: maybe(properties({ current: whole(16) })),
  ostype: maybe(oneOf('other', 'wxp', 'w2k', 'w2k8', 'win8', 'win10', 'win11', 'l24', 'l26', 'solaris')),
  scsihw: maybe(oneOf('lsi', 'lsi53c810', 'virtio-scsi-pci', 'virtio-scsi-single', 'megasas', 'pvscsi')),
  agent: maybe(properties({ enabled: yes, 'freeze-fs': maybe(yes), type: maybe(oneOf('virtio', 'isa')) })),
  onboot: maybe(yes),
  boot: maybe(
    properties({
      legacy: maybe(text({ pattern: /[acdn]{1,4}/ })),
      order: maybe(text({ pattern: /[a-z]+\d+(;[a-z]+\d+)*/ })),
    }),
  ),
  'serial[n]': maybe(text({ pattern: /\/dev\/.+|socket/ })),
  'net[n]': maybe(properties(card)),
  'scsi[n]': maybe(properties(drive)),
  'ide[n]': maybe(properties(drive)),
};
const changes: Rules = { ...settings, delete: maybe(configIds), digest: maybe(text({ maxLength: 40 })) };

const ofMachine = { node, vmid };
const onMachine = (...anyOf: string[]) => ({ path: '/vms/{vmid}', anyOf });
const method = (parameters: Rules, rights: Method['rights'] = null): Method => ({ parameters, rights });
const machine = '/nodes/{node}/qemu/{vmid}';
const storage = '/nodes/{node}/storage/{storage}';
const powerful = onMachine('VM.PowerMgmt');
const networked = onMachine('VM.Config.Network');
const seen = onMachine('VM.Audit');
const inGuest = onMachine('VM.GuestAgent.Unrestricted');
const configuring = onMachine(
  ...['VM.Config.Disk', 'VM.Config.CDROM', 'VM.Config.CPU', 'VM.Config.Memory'],
  ...['VM.Config.Network', 'VM.Config.HWType', 'VM.Config.Options', 'VM.Config.Cloudinit'],
);
const task = { node, upid: text() };

/**
 * What the API of Proxmox VE 9 takes, of the calls and parameters that we make use of; whatever is not listed is refused. Facts of its
 * published schema (the API viewer of its documentation, 9.1).
 */
export const methods: Record<string, Method> = {
  'GET /version': method({}),
  'GET /access/permissions': method({ path: maybe(text()), userid: maybe(text()) }),
  'GET /cluster/resources': method({ type: maybe(oneOf('vm', 'storage', 'node', 'sdn')) }),
  'GET /cluster/nextid': method({ vmid: maybe(vmid) }),
  'GET /cluster/firewall/options': method({}, { path: '/', anyOf: ['Sys.Audit'] }),
  'GET /nodes/{node}/network': method({
    node,
    type: maybe(oneOf('bridge', 'bond', 'eth', 'vlan', 'any_bridge')),
  }),
  'GET /nodes/{node}/journal': method(
    {
      ...{ node, since: maybe(whole(0)), until: maybe(whole(0)), lastentries: maybe(whole(0)) },
      ...{ startcursor: maybe(text()), endcursor: maybe(text()) },
    },
    { path: '/nodes/{node}', anyOf: ['Sys.Syslog'] },
  ),
  'GET /nodes/{node}/tasks': method({
    ...{ node, vmid: maybe(vmid), source: maybe(oneOf('archive', 'active', 'all')) },
    ...{ start: maybe(whole(0)), limit: maybe(whole(0)), typefilter: maybe(text()) },
  }),
  'GET /nodes/{node}/tasks/{upid}/status': method(task),
  'GET /nodes/{node}/tasks/{upid}/log': method({ ...task, start: maybe(whole(0)), limit: maybe(whole(0)) }),
  'DELETE /nodes/{node}/tasks/{upid}': method(task),
  [`GET ${storage}/content`]: method(
    { node, storage: storageId, content: maybe(text()), vmid: maybe(vmid) },
    { path: '/storage/{storage}', anyOf: ['Datastore.Audit', 'Datastore.AllocateSpace'] },
  ),
  [`POST ${storage}/upload`]: method(
    {
      ...{ node, storage: storageId, content: oneOf('iso', 'vztmpl', 'import') },
      filename: text({ maxLength: 255 }),
      checksum: maybe(text()),
      'checksum-algorithm': maybe(oneOf('md5', 'sha1', 'sha224', 'sha256', 'sha384', 'sha512')),
    },
    { path: '/storage/{storage}', anyOf: ['Datastore.AllocateTemplate'] },
  ),
  [`DELETE ${storage}/content/{volume}`]: method(
    { node, storage: storageId, volume: text(), delay: maybe(whole(1, 30)) },
    { path: '/storage/{storage}', anyOf: ['Datastore.Allocate'] },
  ),
  'GET /nodes/{node}/qemu': method({ node, full: maybe(yes) }),
  'POST /nodes/{node}/qemu': method({ ...settings, node, vmid, pool: maybe(text()) }),
  [`DELETE ${machine}`]: method(
    { ...ofMachine, purge: maybe(yes), 'destroy-unreferenced-disks': maybe(yes) },
    onMachine('VM.Allocate'),
  ),
  [`GET ${machine}/config`]: method({ ...ofMachine, current: maybe(yes), snapshot: maybe(configId) }, seen),
  [`PUT ${machine}/config`]: method({ ...changes, ...ofMachine }, configuring),
  [`POST ${machine}/config`]: method({ ...changes, ...ofMachine }, configuring),
  [`PUT ${machine}/resize`]: method(
    {
      ...ofMachine,
      disk: text({ pattern: /(ide[0-3]|scsi([12]?\d|30)|virtio(\d|1[0-5])|sata[0-5]|efidisk0|tpmstate0)/ }),
      size: text({ pattern: /\+?\d+(\.\d+)?[KMGT]?/ }),
    },
    onMachine('VM.Config.Disk'),
  ),
  [`PUT ${machine}/unlink`]: method(
    { ...ofMachine, idlist: configIds, force: maybe(yes) },
    onMachine('VM.Config.Disk'),
  ),
  [`GET ${machine}/status/current`]: method(ofMachine, seen),
  [`POST ${machine}/status/start`]: method({ ...ofMachine, timeout: maybe(whole(0)) }, powerful),
  [`POST ${machine}/status/stop`]: method(
    { ...ofMachine, timeout: maybe(whole(0)), 'overrule-shutdown': maybe(yes) },
    powerful,
  ),
  [`POST ${machine}/status/shutdown`]: method(
    { ...ofMachine, timeout: maybe(whole(0)), forceStop: maybe(yes) },
    powerful,
  ),
  [`POST ${machine}/status/reset`]: method(ofMachine, powerful),
  [`POST ${machine}/migrate`]: method(
    {
      ...{
        ...ofMachine,
        target: node,
        online: maybe(yes),
        force: maybe(yes),
        'with-local-disks': maybe(yes),
      },
      ...{ migration_type: maybe(oneOf('secure', 'insecure')), migration_network: maybe(cidr) },
      ...{ bwlimit: maybe(whole(0)), targetstorage: maybe(text()), 'with-conntrack-state': maybe(yes) },
    },
    onMachine('VM.Migrate'),
  ),
  [`GET ${machine}/snapshot`]: method(ofMachine, seen),
  [`POST ${machine}/snapshot`]: method(
    { ...ofMachine, snapname: configId, description: maybe(text()), vmstate: maybe(yes) },
    onMachine('VM.Snapshot'),
  ),
  [`DELETE ${machine}/snapshot/{snapname}`]: method(
    { ...ofMachine, snapname: configId, force: maybe(yes) },
    onMachine('VM.Snapshot'),
  ),
  [`POST ${machine}/snapshot/{snapname}/rollback`]: method(
    { ...ofMachine, snapname: configId, start: maybe(yes) },
    onMachine('VM.Snapshot', 'VM.Snapshot.Rollback'),
  ),
  [`GET ${machine}/firewall/options`]: method(ofMachine, seen),
  [`PUT ${machine}/firewall/options`]: method(
    {
      ...ofMachine,
      ...{ enable: maybe(yes), dhcp: maybe(yes), ipfilter: maybe(yes), macfilter: maybe(yes) },
      ...{ ndp: maybe(yes), radv: maybe(yes), policy_in: maybe(oneOf('ACCEPT', 'REJECT', 'DROP')) },
      policy_out: maybe(oneOf('ACCEPT', 'REJECT', 'DROP')),
    },
    networked,
  ),
  [`GET ${machine}/firewall/ipset`]: method(ofMachine, seen),
  [`POST ${machine}/firewall/ipset`]: method(
    { ...ofMachine, name: setName, comment: maybe(text()) },
    networked,
  ),
  [`GET ${machine}/firewall/ipset/{name}`]: method({ ...ofMachine, name: setName }, seen),
  [`POST ${machine}/firewall/ipset/{name}`]: method(
    { ...ofMachine, name: setName, cidr, comment: maybe(text()), nomatch: maybe(yes) },
    networked,
  ),
  [`DELETE ${machine}/firewall/ipset/{name}/{cidr}`]: method(
    { ...ofMachine, name: setName, cidr },
    networked,
  ),
  [`POST ${machine}/termproxy`]: method(
    { ...ofMachine, serial: maybe(oneOf('serial0', 'serial1', 'serial2', 'serial3')) },
    onMachine('VM.Console'),
  ),
  [`POST ${machine}/vncproxy`]: method(
    { ...ofMachine, websocket: maybe(yes), 'generate-password': maybe(yes) },
    onMachine('VM.Console'),
  ),
  [`GET ${machine}/vncwebsocket`]: method(
    { ...ofMachine, port: whole(5_900, 5_999), vncticket: text({ maxLength: 512 }) },
    onMachine('VM.Console'),
  ),
  [`POST ${machine}/agent/ping`]: method(
    ofMachine,
    onMachine('VM.GuestAgent.Audit', 'VM.GuestAgent.Unrestricted'),
  ),
  [`POST ${machine}/agent/exec`]: method(
    { ...ofMachine, command: list, 'input-data': maybe(text({ maxLength: 65_536 })) },
    inGuest,
  ),
  [`GET ${machine}/agent/exec-status`]: method({ ...ofMachine, pid: whole() }, inGuest),
  [`POST ${machine}/agent/set-user-password`]: method(
    {
      ...ofMachine,
      username: text(),
      password: text({ minLength: 5, maxLength: 1_024 }),
      crypted: maybe(yes),
    },
    inGuest,
  ),
};
