import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { SwitchCredential } from '../rack.ts';
import { bridge } from './plan.ts';
import { inShell } from './programs.ts';

/** What snmpd is told, so that a bridge answers as a switch does. Returns its arguments, and what it finds its own folder by. */
export async function prepareAgent(folder: string, address: string, credential: SwitchCredential) {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const { user, auth_passphrase: auth, privacy_passphrase: privacy } = credential;
  const mib = join(folder, 'bridge');
  const program = [process.execPath, join(import.meta.dirname, 'bridgeMib.ts'), bridge]
    .map(inShell)
    .join(' ');
  await writeFile(mib, `#!/bin/sh\nexec ${program}\n`);
  await chmod(mib, 0o755);
  const file = join(folder, 'snmpd.conf');
  const lines = [
    `createUser ${user} SHA-256 ${auth} AES ${privacy}`,
    `rouser ${user} authpriv`,
    `agentaddress udp:${address}:161`,
    'sysName demo-switch',
    `pass_persist .1.3.6.1.2.1.17 ${mib}`,
  ];
  await writeFile(file, `${lines.join('\n')}\n`, { mode: 0o600 });
  return {
    argv: ['-f', '-Lo', '-r', '-C', '-c', file],
    env: { SNMP_PERSISTENT_DIR: folder, HOME: folder, MIBS: '' },
  };
}
