import { rm } from 'node:fs/promises';
import type { MachineEvent, MachineReport } from '../contract.ts';
import { tellOfPower } from '../tellOfPower.ts';
import { exists, type MachineFiles, machineFiles, machineIds } from './files.ts';
import { type Monitor, monitorMachine } from './monitor.ts';
import type { QemuOptions } from './options.ts';
import { findProcess, startedAt } from './process.ts';

/** The machines of this node: what runs, whom we are connected to, and who listens to their changes. */
export interface Machines {
  report(id: string): Promise<MachineReport>;
  list(): Promise<MachineReport[]>;
  /** The monitor of a machine, if its process runs. */
  monitor(files: MachineFiles): Promise<Monitor | undefined>;
  /** Those of all running machines that we follow: after `adopt`, every one. */
  monitors(): Monitor[];
  /** Tells that a machine was started, and follows it. */
  started(files: MachineFiles): Promise<void>;
  /** Waits until the end of a machine's process has been told to the listeners. */
  settled(id: string): Promise<void>;
  /**
   * Connects to machines that run already, and tells of those that ended while nobody watched. Returns those that
   * were not followed before.
   */
  adopt(): Promise<Monitor[]>;
  watch(listener: (event: MachineEvent) => void): () => void;
  release(): void;
}

export function trackMachines(options: QemuOptions): Machines {
  const { log } = options;
  const monitors = new Map<string, Monitor>();
  const listeners = new Set<(event: MachineEvent) => void>();

  function tell(id: string, power: MachineEvent['power'], cause: MachineEvent['cause']): void {
    tellOfPower({ id, power, cause, at: new Date() }, listeners, log);
  }

  function follow(files: MachineFiles, pid: number): Monitor {
    const monitor = monitorMachine(
      files,
      pid,
      log,
      (cause) => {
        if (monitors.get(files.id) === monitor) monitors.delete(files.id);
        tell(files.id, 'stopped', cause);
      },
      (hangs) => {
        if (hangs) log.error({ machine: files.id }, 'A machine does not answer its host: it hangs');
        tell(files.id, 'running', 'host'); // listeners look for themselves how it is
      },
    );
    monitors.set(files.id, monitor);
    return monitor;
  }

  const machines: Machines = {
    async report(id) {
      const files = machineFiles(options, id);
      const pid = await findProcess(files);
      const startTime = pid === null ? null : await startedAt(pid);
      const hangs = monitors.get(id)?.hangs() ? { hangs: true } : {};
      if (startTime) return { id, power: 'running', startedAt: startTime, ...hangs };
      return { id, power: (await exists(files.dir)) ? 'stopped' : 'absent', startedAt: null };
    },
    async list() {
      return Promise.all((await machineIds(options)).map((id) => machines.report(id)));
    },
    async monitor(files) {
      const pid = await findProcess(files);
      if (pid === null) return undefined;
      return monitors.get(files.id) ?? follow(files, pid);
    },
    monitors: () => [...monitors.values()],
    async started(files) {
      const pid = await findProcess(files);
      if (pid !== null) follow(files, pid);
      tell(files.id, 'running', 'host');
    },
    async settled(id) {
      await monitors.get(id)?.ended;
    },
    async adopt() {
      const before = new Set(monitors.values());
      for (const id of await machineIds(options)) {
        const files = machineFiles(options, id);
        if (await machines.monitor(files)) continue;
        if (!(await exists(files.pidFile))) continue;
        await rm(files.runDir, { recursive: true, force: true });
        tell(id, 'stopped', 'lost');
      }
      return [...monitors.values()].filter((monitor) => !before.has(monitor));
    },
    watch(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    release() {
      for (const monitor of monitors.values()) monitor.release();
      monitors.clear();
    },
  };
  return machines;
}
