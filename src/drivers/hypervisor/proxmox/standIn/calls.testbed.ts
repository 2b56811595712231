import { createHash, randomBytes } from 'node:crypto';
import {
  bareVm,
  configure,
  destroy,
  discOf,
  end,
  migrate,
  mustBeFree,
  resize,
  rollBack,
  shutDown,
  start,
  takeSnapshot,
  vmOf,
} from './machines.testbed.ts';
import {
  beginTask,
  nextPid,
  Refused,
  rightsAt,
  type Settings,
  type State,
  type Task,
  tokenId,
  type Vm,
} from './state.testbed.ts';

export interface Call {
  state: State;
  /** Parameters, those of the path among them. */
  given: Record<string, string>;
  /** Those that came several times. */
  lists: Record<string, string[]>;
  file: Buffer | null;
}

type Answer = unknown;
const machine = '/nodes/{node}/qemu/{vmid}';
const storage = '/nodes/{node}/storage/{storage}';
const total = Symbol('total');
export const totalOf = (answer: unknown): number | undefined =>
  (Object(answer) as { [total]?: number })[total];

const vmIn = ({ state, given }: Call): Vm => vmOf(state, given.node ?? '', Number(given.vmid));
const isYes = (value: string | undefined) => /^(1|on|yes|true)$/.test(value ?? '');

/** A call that begins a task with a machine. */
function task(type: string, work: (vm: Vm, call: Call, task: Task) => void | Promise<void>) {
  return (call: Call): Answer => {
    const vm = vmIn(call);
    return beginTask(call.state, { node: vm.node, type, vmid: vm.vmid }, (task) => work(vm, call, task));
  };
}

function settingsIn({ given }: Call): { settings: Settings; gone: string[] } {
  const { node: _node, vmid: _vmid, pool: _pool, delete: gone, digest: _digest, ...settings } = given;
  return { settings, gone: gone?.split(/[,; ]+/) ?? [] };
}

/** What a call of the API does. Messages are the engine's own. */
export const calls: Record<string, (call: Call) => Answer> = {
  'GET /version': ({ state }) => ({
    version: state.version,
    release: state.version.slice(0, 3),
    repoid: '9f2a1c3b4d5e6f70',
  }),
  'GET /access/permissions': ({ state, given: { path = '/' } }) => ({
    [path]: Object.fromEntries(rightsAt(state, path).map((right) => [right, 1])),
  }),
  'GET /cluster/resources': ({ state }) => resources(state),
  'GET /cluster/nextid': ({ state, given: { vmid } }) => {
    if (vmid === undefined) return '100';
    if (!state.vms.has(Number(vmid))) return vmid;
    throw new Refused(400, 'Parameter verification failed.', { vmid: `VM ${vmid} already exists` });
  },
  'GET /cluster/firewall/options': ({ state }) =>
    state.firewallIsOn ? { enable: 1, policy_in: 'ACCEPT' } : {},
  'GET /nodes/{node}/network': ({ state, given }) =>
    (state.nodes.find(({ name }) => name === given.node)?.bridges ?? []).map((iface) => ({
      iface,
      type: 'bridge',
      active: 1,
    })),
  'GET /nodes/{node}/journal': ({ state, given }) => [
    '-- cursor --',
    ...state.journal
      .filter(({ node, seconds }) => node === given.node && seconds >= Number(given.since ?? 0))
      .map(({ line }) => line),
  ],
  'GET /nodes/{node}/tasks': ({ state, given }) =>
    [...state.tasks.values()]
      .filter(
        (each) => each.node === given.node && (given.vmid === undefined || each.vmid === Number(given.vmid)),
      )
      .filter((each) => given.source !== 'active' || each.end === null)
      .filter((each) => given.typefilter === undefined || each.type === given.typefilter)
      .map((each) => ({
        upid: each.upid,
        node: each.node,
        type: each.type,
        id: String(each.vmid ?? ''),
        user: each.user,
        ...(each.end === null ? {} : { status: each.end }),
      })),
  'GET /nodes/{node}/tasks/{upid}/status': (call) => {
    const { upid, type, end: exit } = taskIn(call);
    return exit === null
      ? { upid, type, status: 'running' }
      : { upid, type, status: 'stopped', exitstatus: exit };
  },
  'GET /nodes/{node}/tasks/{upid}/log': (call) => {
    const { log } = taskIn(call);
    const from = Number(call.given.start ?? 0);
    const lines = log.map((t, nth) => ({ n: nth + 1, t })).slice(from, from + Number(call.given.limit ?? 50));
    return Object.assign(lines, { [total]: log.length });
  },
  'DELETE /nodes/{node}/tasks/{upid}': (call) => {
    taskIn(call).cancelled = true;
    return null;
  },
  [`GET ${storage}/content`]: ({ state, given }) =>
    [...state.files.keys()]
      .filter((key) => key.startsWith(`${given.node} ${given.storage}:${given.content ?? ''}`))
      .map((key) => ({
        volid: key.split(' ')[1],
        content: given.content,
        format: 'raw',
        size: state.files.get(key)?.length,
      })),
  [`POST ${storage}/upload`]: upload,
  [`DELETE ${storage}/content/{volume}`]: ({ state, given }) => {
    const node = given.node ?? '';
    return beginTask(state, { node, type: 'imgdel', vmid: null }, () => {
      if (!state.files.delete(`${node} ${given.volume}`))
        throw new Error(`unlink '${given.volume}' failed: No such file or directory`);
    });
  },
  'GET /nodes/{node}/qemu': ({ state, given }) =>
    [...state.vms.values()]
      .filter((vm) => vm.node === given.node && rightsAt(state, `/vms/${vm.vmid}`).includes('VM.Audit'))
      .map((vm) => statusOf(vm, isYes(given.full))),
  'POST /nodes/{node}/qemu': create,
  [`DELETE ${machine}`]: (call) => {
    const vm = vmIn(call);
    if (vm.running) throw new Refused(500, `VM ${vm.vmid} is running - destroy failed`);
    return task('qmdestroy', (each, { state }) => destroy(state, each))(call);
  },
  [`GET ${machine}/config`]: (call) => {
    const vm = vmIn(call);
    const { snapshot } = call.given;
    if (snapshot === undefined) {
      const digest = digestOf(vm);
      const all = { ...vm.settings, ...vm.pending, ...(vm.lock === null ? {} : { lock: vm.lock }), digest };
      return isYes(call.given.current) ? { ...vm.settings, digest } : all;
    }
    const found = vm.snapshots.get(snapshot);
    if (!found) throw new Refused(500, `snapshot '${snapshot}' does not exist`);
    return { ...found.settings, description: found.description, snaptime: found.seconds };
  },
  [`PUT ${machine}/config`]: (call) => {
    const { settings, gone } = settingsIn(call);
    configure(call.state, vmIn(call), settings, gone);
    return null;
  },
  [`POST ${machine}/config`]: task('qmconfig', (vm, call) => {
    const { settings, gone } = settingsIn(call);
    if (call.given.digest !== undefined && call.given.digest !== digestOf(vm))
      throw new Error('checksum mismatch (file change by other user?)');
    configure(call.state, vm, settings, gone);
  }),
  [`PUT ${machine}/resize`]: task('resize', (vm, { state, given }) =>
    resize(state, vm, given.disk ?? '', given.size ?? ''),
  ),
  [`PUT ${machine}/unlink`]: (call) => {
    configure(call.state, vmIn(call), {}, (call.given.idlist ?? '').split(/[,; ]+/));
    return null;
  },
  [`GET ${machine}/status/current`]: (call) => ({ ...statusOf(vmIn(call), true), ha: { managed: 0 } }),
  [`POST ${machine}/status/start`]: (call) => {
    const vm = vmIn(call);
    if (vm.running) throw new Refused(500, `VM ${vm.vmid} already running`);
    return task('qmstart', (each, { state }) => start(state, each))(call);
  },
  [`POST ${machine}/status/stop`]: task('qmstop', (vm, { state, given }) => {
    if (!vm.running) return;
    if (isYes(given['overrule-shutdown']))
      for (const each of state.tasks.values())
        if (each.type === 'qmshutdown' && each.vmid === vm.vmid) each.cancelled = true;
    mustBeFree(vm);
    end(state, vm, 'silent');
  }),
  [`POST ${machine}/status/shutdown`]: task('qmshutdown', (vm, { state, given }, own) =>
    shutDown(state, vm, Number(given.timeout ?? 60), () => own.cancelled),
  ),
  [`POST ${machine}/status/reset`]: task('qmreset', (vm, { state }) => {
    if (!vm.running) throw new Error(`VM ${vm.vmid} not running`);
    vm.running.guest.reset(discOf(state, vm));
  }),
  [`POST ${machine}/migrate`]: (call) => {
    const { state, given } = call;
    const vm = vmIn(call);
    if (!state.nodes.some(({ name }) => name === given.target))
      throw new Refused(500, `no such cluster node '${given.target}'`);
    if (given.target === vm.node)
      throw new Refused(400, 'Parameter verification failed.', { target: 'target is local node.' });
    if (vm.running && !isYes(given.online))
      throw new Refused(500, "can't migrate running VM without --online");
    return task('qmigrate', (each, { state: at }) => migrate(at, each, given.target ?? ''))(call);
  },
  [`GET ${machine}/snapshot`]: (call) => [
    ...[...vmIn(call).snapshots].map(([name, each]) => ({
      name,
      description: each.description,
      snaptime: each.seconds,
      vmstate: 0,
    })),
    { name: 'current', description: 'You are here!', running: vmIn(call).running ? 1 : 0 },
  ],
  [`POST ${machine}/snapshot`]: task('qmsnapshot', (vm, { state, given }) =>
    takeSnapshot(state, vm, given.snapname ?? '', given.description ?? ''),
  ),
  [`DELETE ${machine}/snapshot/{snapname}`]: task('qmdelsnapshot', (vm, { given }) => {
    if (!vm.snapshots.delete(given.snapname ?? ''))
      throw new Error(`snapshot '${given.snapname}' does not exist`);
  }),
  [`POST ${machine}/snapshot/{snapname}/rollback`]: task('qmrollback', (vm, { state, given }) =>
    rollBack(state, vm, given.snapname ?? ''),
  ),
  [`GET ${machine}/firewall/options`]: (call) => vmIn(call).firewall.options,
  [`PUT ${machine}/firewall/options`]: (call) => {
    const { node: _node, vmid: _vmid, ...options } = call.given;
    Object.assign(vmIn(call).firewall.options, options);
    return null;
  },
  [`GET ${machine}/firewall/ipset`]: (call) =>
    [...vmIn(call).firewall.sets.keys()].map((name) => ({ name, digest: '0' })),
  [`POST ${machine}/firewall/ipset`]: (call) => {
    const { sets } = vmIn(call).firewall;
    const { name = '' } = call.given;
    if (sets.has(name))
      throw new Refused(400, 'Parameter verification failed.', { name: `IPSet '${name}' already exists` });
    sets.set(name, new Set());
    return null;
  },
  [`GET ${machine}/firewall/ipset/{name}`]: (call) => [...setIn(call)].map((cidr) => ({ cidr, digest: '0' })),
  [`POST ${machine}/firewall/ipset/{name}`]: (call) => {
    const { cidr = '' } = call.given;
    if (setIn(call).has(cidr))
      throw new Refused(400, 'Parameter verification failed.', { cidr: `address '${cidr}' already exists` });
    setIn(call).add(cidr);
    return null;
  },
  [`DELETE ${machine}/firewall/ipset/{name}/{cidr}`]: (call) =>
    void setIn(call).delete(call.given.cidr ?? ''),
  [`POST ${machine}/termproxy`]: (call) => openConsole(call, 'serial'),
  [`POST ${machine}/vncproxy`]: (call) => openConsole(call, 'vnc'),
  [`POST ${machine}/agent/ping`]: (call) => ({ result: guestIn(call) && {} }),
  [`POST ${machine}/agent/exec`]: (call) => {
    const pid = nextPid();
    vmIn(call).programs.set(pid, guestIn(call).execute(call.lists.command ?? []));
    return { pid };
  },
  [`GET ${machine}/agent/exec-status`]: (call) => {
    guestIn(call);
    const found = vmIn(call).programs.get(Number(call.given.pid));
    if (!found) throw new Refused(500, `Agent error: PID ${call.given.pid} does not exist`);
    return { exited: 1, exitcode: found.exitcode, ...(found.error ? { 'err-data': found.error } : {}) };
  },
  [`POST ${machine}/agent/set-user-password`]: (call) => {
    guestIn(call).passwordHash = call.given.password ?? null;
    return { result: {} };
  },
};

function digestOf({ settings }: Vm): string {
  return createHash('sha1').update(JSON.stringify(settings)).digest('hex');
}

function taskIn({ state, given }: Call): Task {
  const found = state.tasks.get(given.upid ?? '');
  if (found) return found;
  throw new Refused(400, 'Parameter verification failed.', { upid: 'no such task' });
}

function setIn(call: Call): Set<string> {
  const { name = '' } = call.given;
  const found = vmIn(call).firewall.sets.get(name);
  if (found) return found;
  throw new Refused(500, `no such IPSet '${name}'`);
}

function guestIn(call: Call) {
  const vm = vmIn(call);
  if (!vm.settings.agent) throw new Refused(500, 'No QEMU guest agent configured');
  if (!vm.running) throw new Refused(500, `VM ${vm.vmid} is not running`);
  const { guest } = vm.running;
  if (guest.isSilent || !guest.isUp) throw new Refused(500, 'QEMU guest agent is not running');
  return guest;
}

function openConsole(call: Call, kind: 'vnc' | 'serial'): Answer {
  const vm = vmIn(call);
  if (!vm.running) throw new Refused(500, `VM ${vm.vmid} not running`);
  let port = 5_900;
  while (call.state.consoles.has(port)) port += 1;
  const [ticket, password] = [
    `PVEVNC:${randomBytes(9).toString('hex')}::a+b/c=`,
    randomBytes(4).toString('hex'),
  ];
  call.state.consoles.set(port, { vmid: vm.vmid, ticket, password, kind });
  const upid = `UPID:${vm.node}:00000001:00000001:00000001:vncproxy:${vm.vmid}:${tokenId}:`;
  return {
    user: tokenId,
    ticket,
    port,
    upid,
    ...(isYes(call.given['generate-password']) ? { password } : {}),
  };
}

function create(call: Call): Answer {
  const { state, given } = call;
  const vmid = Number(given.vmid);
  const pool = given.pool ?? null;
  if (pool !== null && !state.pools.includes(pool)) throw new Refused(400, `pool '${pool}' does not exist`);
  if (!rightsAt(state, `/pool/${pool}`).includes('VM.Allocate'))
    throw new Refused(403, 'Permission check failed');
  const there = state.vms.get(vmid);
  const problem = `unable to create VM ${vmid} -`;
  if (there) throw new Refused(500, `${problem} VM ${vmid} already exists on node '${there.node}'`);
  const node = given.node ?? '';
  // Until all of it is made it is only a number that is taken.
  const vm = bareVm(vmid, node, {}, null);
  vm.lock = 'create';
  state.vms.set(vmid, vm);
  return beginTask(state, { node, type: 'qmcreate', vmid }, () => {
    const { settings } = settingsIn(call);
    vm.lock = null;
    try {
      configure(state, vm, settings, []);
    } catch (error) {
      state.vms.delete(vmid);
      throw new Error(`${problem} ${(error as Error).message}`);
    }
    vm.pool = pool;
  });
}

function upload({ state, given, file }: Call): Answer {
  const { node = '', storage: to = '', content = '', filename = '' } = given;
  if (file === null) throw new Refused(500, 'missing temporary file name');
  const ending = content === 'iso' ? /\.(iso|img)$/i : /^[a-zA-Z0-9\-.+=_]+\.(ova|qcow2|raw|vmdk)$/;
  if (!ending.test(filename))
    throw new Refused(400, 'Parameter verification failed.', { filename: 'wrong file extension' });
  if (
    !state.storages
      .find(({ name }) => name === to)
      ?.content.split(',')
      .includes(content)
  )
    throw new Refused(500, `storage '${to}' does not support '${content}' content`);
  return beginTask(state, { node, type: 'imgcopy', vmid: null }, (task) => {
    task.log.push(
      'starting file import from: /var/tmp/pveupload-0123456789abcdef',
      'calculating checksum...',
    );
    const sum = createHash(given['checksum-algorithm'] ?? 'sha256')
      .update(file)
      .digest('hex');
    if (given.checksum !== undefined && given.checksum.toLowerCase() !== sum)
      throw new Error(`checksum mismatch: got '${sum}' != expect '${given.checksum}'`);
    if (content === 'iso' && file.toString('latin1', 32_769, 32_774) !== 'CD001')
      throw new Error('file is not a valid ISO 9660 image');
    if (content === 'import' && file.toString('latin1', 0, 4) !== 'QFI\xfb')
      throw new Error('Image is not in qcow2 format');
    const kept = filename.replace(/[^a-zA-Z0-9_.-]/g, '_');
    state.files.set(`${node} ${to}:${content}/${kept}`, file);
  });
}

function statusOf(vm: Vm, isFull: boolean) {
  const { running, settings, vmid } = vm;
  const upMs = running ? Date.now() - running.sinceMs : 0;
  const memory = running?.memory ?? Number(settings.memory ?? 512) * 2 ** 20;
  return {
    ...{ vmid, name: settings.name ?? `VM ${vmid}`, status: running ? 'running' : 'stopped' },
    ...{
      uptime: Math.floor(upMs / 1_000),
      maxmem: memory,
      cpus: running?.cpus ?? Number(settings.cores ?? 1),
    },
    ...(settings.tags === undefined ? {} : { tags: settings.tags }),
    ...(vm.lock === null ? {} : { lock: vm.lock }),
    ...(running ? { pid: running.pid, mem: memory / 2 } : { mem: 0 }),
    ...{ netin: upMs * 50, netout: upMs * 150, cpu: 0 },
    ...(isFull && running ? { qmpstatus: 'running', diskread: upMs * 100, diskwrite: upMs * 200 } : {}),
  };
}

function resources(state: State) {
  const may = (path: string, right: string) => rightsAt(state, path).includes(right);
  const vms = [...state.vms.values()].filter(({ vmid }) => may(`/vms/${vmid}`, 'VM.Audit'));
  return [
    ...state.pools
      .filter((pool) => may(`/pool/${pool}`, 'Pool.Audit'))
      .map((pool) => ({ id: `/pool/${pool}`, type: 'pool', pool })),
    ...vms.map((vm) => ({
      ...{ id: `qemu/${vm.vmid}`, type: 'qemu', vmid: vm.vmid, node: vm.node },
      ...(vm.broadcast ? { ...vm.broadcast, maxcpu: Number(vm.settings.cores ?? 1) } : { status: 'unknown' }),
      ...(vm.pool !== null && may(`/pool/${vm.pool}`, 'Pool.Audit') ? { pool: vm.pool } : {}),
      ...(vm.settings.tags === undefined ? {} : { tags: vm.settings.tags }),
    })),
    ...state.nodes.map(({ name, isOnline }) => ({
      ...{ id: `node/${name}`, type: 'node', node: name, status: isOnline ? 'online' : 'offline' },
      ...{ maxcpu: 16, maxmem: 64 * 2 ** 30, mem: 8 * 2 ** 30 },
    })),
    ...state.nodes.flatMap(({ name: node }) =>
      state.storages
        .filter(({ name }) => may(`/storage/${name}`, 'Datastore.Audit'))
        .map(({ name, content, isShared }) => ({
          ...{ id: `storage/${node}/${name}`, type: 'storage', storage: name, node, status: 'available' },
          ...{ content, shared: isShared ? 1 : 0, maxdisk: 2 ** 41, disk: 2 ** 38 },
        })),
    ),
  ];
}

/** What the nodes tell one another now and then: names, states and figures are as old as that. */
export function broadcast(state: State): void {
  for (const vm of state.vms.values())
    vm.broadcast = {
      name: vm.settings.name ?? `VM ${vm.vmid}`,
      status: vm.running ? 'running' : 'stopped',
      cpu: vm.running ? 0.1 : 0,
    };
}
