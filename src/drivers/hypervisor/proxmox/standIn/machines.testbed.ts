import { setTimeout as delay } from 'node:timers/promises';
import { startGuest } from './guest.testbed.ts';
import { nextPid, Refused, type Settings, type State, type Vm, type Volume } from './state.testbed.ts';

const diskNames = /^(scsi|ide)\d+$/;
const fast = new Set(['name', 'tags', 'description', 'onboot']);

export function parts(line: string): Record<string, string> {
  const each = line.split(',').map((part, nth) => {
    const at = part.indexOf('=');
    return at < 0 ? [nth === 0 ? 'file' : part, part] : [part.slice(0, at), part.slice(at + 1)];
  });
  return Object.fromEntries(each);
}

export function vmOf(state: State, node: string, vmid: number): Vm {
  const vm = state.vms.get(vmid);
  if (vm?.node === node) return vm;
  throw new Refused(500, `Configuration file 'nodes/${node}/qemu-server/${vmid}.conf' does not exist`);
}

export function mustBeFree({ lock }: Vm): void {
  if (lock !== null) throw new Error(`VM is locked (${lock})`);
}

export function bareVm(vmid: number, node: string, settings: Settings, pool: string | null): Vm {
  return {
    ...{ vmid, node, pool, settings, pending: {}, lock: null, snapshots: new Map(), running: null },
    ...{ firewall: { options: {}, sets: new Map() }, broadcast: null, programs: new Map() },
  };
}

export function start(state: State, vm: Vm): void {
  if (vm.running) throw new Error(`VM ${vm.vmid} already running`);
  mustBeFree(vm);
  vm.settings = { ...vm.settings, ...vm.pending };
  vm.pending = {};
  for (const [name, line] of Object.entries(vm.settings)) {
    if (!diskNames.test(name)) continue;
    const { file = '' } = parts(line);
    if (file !== 'none' && !state.volumes.has(file) && !state.files.has(`${vm.node} ${file}`))
      throw new Error(`volume '${file}' does not exist`);
  }
  vm.running = {
    pid: nextPid(),
    sinceMs: Date.now(),
    cpus: Number(vm.settings.cores ?? 1),
    memory: Number(vm.settings.memory ?? 512) * 2 ** 20,
    guest: startGuest(discOf(state, vm), state.bootMs),
  };
}

export function discOf(state: State, vm: Vm): Buffer | null {
  const { file = 'none' } = parts(vm.settings.ide2 ?? 'none');
  return state.files.get(`${vm.node} ${file}`) ?? null;
}

/** `how`: what its process wrote when it went. */
export function end(state: State, vm: Vm, how: 'silent' | 'by the engine'): void {
  if (!vm.running) return;
  const { pid, guest } = vm.running;
  guest.end();
  vm.running = null;
  if (how === 'by the engine') {
    const when = new Date().toDateString().slice(4, 10);
    const line = `${when} 12:00:00 ${vm.node} QEMU[${pid}]: kvm: terminating on signal 15 from pid 812 (/usr/sbin/qmeventd)`;
    state.journal.push({ node: vm.node, seconds: Math.floor(Date.now() / 1_000), line });
  }
  for (const listener of state.ends) listener(vm.vmid);
}

export async function shutDown(state: State, vm: Vm, timeoutS: number, isOff: () => boolean): Promise<void> {
  if (!vm.running) return;
  // A guest that is booting does not hear its power button.
  const hears = vm.running.guest.isUp;
  await delay(30);
  if (hears) end(state, vm, 'by the engine');
  for (const until = Date.now() + timeoutS * 1_000; vm.running; await delay(20)) {
    if (isOff()) throw new Error('interrupted by signal');
    if (Date.now() >= until) throw new Error('VM quit/powerdown failed - got timeout');
  }
}

/** Takes new settings, and makes the disks that they ask for. */
export function configure(state: State, vm: Vm, wanted: Settings, gone: readonly string[]): void {
  mustBeFree(vm);
  const next: Settings = {};
  for (const [name, line] of Object.entries(wanted))
    next[name] = diskNames.test(name) ? diskLine(state, vm, line) : line;
  for (const [name, line] of Object.entries(next)) {
    const before = vm.settings[name];
    if (before !== undefined && diskNames.test(name) && parts(before).media !== 'cdrom')
      keepUnused(vm, before);
    const isLive = !vm.running || fast.has(name) || diskNames.test(name) || name.startsWith('net');
    if (isLive) vm.settings[name] = line;
    else if (before !== line) vm.pending[name] = line;
  }
  for (const name of gone) {
    const line = vm.settings[name];
    if (line !== undefined && diskNames.test(name) && parts(line).media !== 'cdrom') keepUnused(vm, line);
    if (/^unused\d+$/.test(name) && line !== undefined) state.volumes.delete(line);
    delete vm.settings[name];
  }
}

function keepUnused(vm: Vm, line: string): void {
  const { file = '' } = parts(line);
  for (let nth = 0; ; nth += 1) {
    if (vm.settings[`unused${nth}`] !== undefined) continue;
    vm.settings[`unused${nth}`] = file;
    return;
  }
}

function diskLine(state: State, vm: Vm, line: string): string {
  const { file = '', 'import-from': source, ...more } = parts(line);
  const rest = Object.entries(more).map(([name, value]) => `${name}=${value}`);
  const [storage = '', name = ''] = file.split(':');
  if (more.media === 'cdrom' || file === 'none') {
    if (file !== 'none' && !state.files.has(`${vm.node} ${file}`))
      throw new Error(`volume '${file}' does not exist`);
    return [file, ...rest].join(',');
  }
  if (!/^\d+$/.test(name)) {
    if (!state.volumes.has(file)) throw new Error(`volume '${file}' does not exist`);
    return line;
  }
  if (
    !state.storages
      .find((each) => each.name === storage)
      ?.content.split(',')
      .includes('images')
  )
    throw new Error(`storage '${storage}' does not support vm images`);
  const image = source === undefined ? null : state.files.get(`${vm.node} ${source}`);
  if (source !== undefined && !image) throw new Error(`import source '${source}' does not exist`);
  const volume: Volume = image
    ? { of: source ?? '', bytes: Number(image.readBigUInt64BE(24)) }
    : { of: 'nothing', bytes: Number(name) * 2 ** 30 };
  let nth = 0;
  while (state.volumes.has(`${storage}:vm-${vm.vmid}-disk-${nth}`)) nth += 1;
  const volid = `${storage}:vm-${vm.vmid}-disk-${nth}`;
  state.volumes.set(volid, volume);
  return [volid, ...rest, `size=${sizeText(volume.bytes)}`].join(',');
}

export function sizeText(bytes: number): string {
  for (const [unit, factor] of [
    ['G', 2 ** 30],
    ['M', 2 ** 20],
    ['K', 2 ** 10],
  ] as const)
    if (bytes % factor === 0) return `${bytes / factor}${unit}`;
  return String(bytes);
}

export function resize(state: State, vm: Vm, disk: string, size: string): void {
  mustBeFree(vm);
  const line = vm.settings[disk];
  if (line === undefined) throw new Error(`disk '${disk}' does not exist`);
  const { file = '' } = parts(line);
  const volume = state.volumes.get(file);
  if (!volume) throw new Error(`volume '${file}' does not exist`);
  const [, plus, number, unit = ''] = /^(\+?)(\d+)([KMGT]?)$/.exec(size) ?? [];
  const factor = { '': 1, K: 2 ** 10, M: 2 ** 20, G: 2 ** 30, T: 2 ** 40 }[unit] ?? 1;
  const bytes = Number(number) * factor + (plus ? volume.bytes : 0);
  if (bytes < volume.bytes) throw new Error('shrinking disks is not supported');
  volume.bytes = bytes;
  vm.settings[disk] = line.replace(/size=[^,]*/, `size=${sizeText(bytes)}`);
}

export function destroy(state: State, vm: Vm): void {
  mustBeFree(vm);
  if (vm.running) throw new Error(`VM ${vm.vmid} is running - destroy failed`);
  for (const volid of state.volumes.keys())
    if (volid.includes(`:vm-${vm.vmid}-`)) state.volumes.delete(volid);
  state.vms.delete(vm.vmid);
}

/** Local disks come along, discs do not. A guest that runs goes on in another process. */
export function migrate(state: State, vm: Vm, target: string): void {
  mustBeFree(vm);
  if (!state.nodes.find(({ name }) => name === target)?.isOnline)
    throw new Error(`target node '${target}' is not online`);
  for (const line of Object.values(vm.settings)) {
    const { file = '', media } = parts(line);
    const isShared = state.storages.some(({ name, isShared }) => isShared && file.startsWith(`${name}:`));
    if (media === 'cdrom' && file !== 'none' && !isShared)
      throw new Error(`can't migrate local cdrom drive '${file}'`);
  }
  if (vm.running && vm.snapshots.size > 0)
    throw new Error('online storage migration not possible if non-replicated snapshots exist');
  vm.node = target;
  vm.broadcast = null;
  if (vm.running) vm.running = { ...vm.running, pid: nextPid(), sinceMs: Date.now() };
}

export function takeSnapshot(state: State, vm: Vm, name: string, description: string): void {
  mustBeFree(vm);
  if (vm.snapshots.has(name)) throw new Error(`snapshot name '${name}' already used`);
  const disks = Object.entries(vm.settings).flatMap(([key, line]): [string, Volume][] => {
    const { file = '' } = parts(line);
    const volume = diskNames.test(key) ? state.volumes.get(file) : undefined;
    return volume ? [[file, { ...volume }]] : [];
  });
  const { description: _, ...settings } = vm.settings;
  const seconds = Math.floor(Date.now() / 1_000);
  vm.snapshots.set(name, { settings: { ...settings }, description, seconds, disks: new Map(disks) });
}

/** Everything comes back as it was, except for notes and unused disks. */
export function rollBack(state: State, vm: Vm, name: string): void {
  const snapshot = vm.snapshots.get(name);
  if (!snapshot) throw new Error(`snapshot '${name}' does not exist`);
  mustBeFree(vm);
  end(state, vm, 'by the engine');
  const kept = Object.entries(vm.settings).filter(
    ([key]) => key === 'description' || key.startsWith('unused'),
  );
  vm.settings = { ...snapshot.settings, ...Object.fromEntries(kept) };
  for (const [file, volume] of snapshot.disks) state.volumes.set(file, { ...volume });
}
