import type { runProgram } from '../../../platform/host/program.ts';
import { type Groups, type Limits, weightOfAll } from './limits.ts';

const slice = 'innkeeper.slice';
/** When the host goes down, the product ends before its machines do, and does not start them again. */
const product = 'innkeeper.service';
const manager = ['org.freedesktop.systemd1', '/org/freedesktop/systemd1', 'org.freedesktop.systemd1.Manager'];

/**
 * A scope for each machine, in a slice for all. Not groups below the product's own unit: systemd cannot start a unit
 * anew in whose groups processes are left, and machines are. A scope goes by itself when its process ends, some time
 * after, so each process has one of its own name. Source: systemd's "New Control Group Interfaces".
 */
export function systemdScopes(name: string, run: typeof runProgram): Groups {
  const call = (method: string, ...rest: string[]) => run(['busctl', 'call', ...manager, method, ...rest]);

  return {
    async prepare() {
      // Not kept over a restart of the host: the next start of the product says it again.
      await run([
        ...['systemctl', 'set-property', '--runtime', slice],
        ...[`CPUWeight=${weightOfAll}`, `IOWeight=${weightOfAll}`],
      ]);
      await call('GetUnit', 's', 'init.scope'); // says now whether it answers
    },
    async take(id, pid, limits) {
      const scope = `${name}-${id}-${pid}.scope`;
      await call('StartTransientUnit', ...newScope(scope, id, pid, limits)).catch(async (error) => {
        if (!/already (exists|loaded)/.test(String(error))) throw error;
        await call('SetUnitProperties', 'sba(sv)', scope, 'true', ...counted(propertiesOf(limits)));
      });
    },
    async giveBack() {},
  };
}

/** Arguments of StartTransientUnit, as busctl(1) takes them: a signature, then the values. */
export function newScope(scope: string, id: string, pid: number, limits: Limits): string[] {
  const properties = [
    ['Description', 's', `Innkeeper's machine ${id}`],
    ['Slice', 's', slice],
    ['PIDs', 'au', '1', String(pid)],
    ['Before', 'as', '1', product],
    ['CollectMode', 's', 'inactive-or-failed'],
    ...propertiesOf(limits),
  ];
  return ['ssa(sv)a(sa(sv))', scope, 'fail', ...counted(properties), '0'];
}

function propertiesOf({ weight, cpuUsPerSecond, memoryBytes, tasks }: Limits): string[][] {
  return [
    ['CPUWeight', 't', String(weight)],
    ['CPUQuotaPerSecUSec', 't', String(cpuUsPerSecond)],
    ['MemoryMax', 't', String(memoryBytes)],
    ['TasksMax', 't', String(tasks)],
    ['IOWeight', 't', String(weight)],
  ];
}

function counted(properties: string[][]): string[] {
  return [String(properties.length), ...properties.flat()];
}
