import { spawn } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import type { RackBmc } from './bmc.ts';

/** Somebody else opens the line, and dies with it open. */
export async function leaveSerialOpen({
  tool,
  ipmi,
  connection: { address, port, user, password },
}: RackBmc): Promise<void> {
  await tool('sol', 'deactivate').catch(() => undefined);
  const argv = [
    '-I',
    'lanplus',
    '-C',
    '3',
    '-H',
    address,
    '-p',
    String(port),
    '-U',
    user,
    '-E',
    'sol',
    'activate',
  ];
  const other = spawn('stdbuf', ['-o0', ipmi.program, ...argv], {
    env: { ...ipmi.env, IPMI_PASSWORD: password },
    stdio: 'pipe',
  });
  for (let said = ''; !said.includes('operational'); ) {
    await delay(20);
    said += other.stdout.read() ?? '';
  }
  other.kill('SIGKILL');
}
