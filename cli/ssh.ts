/** `ssh NAME`: to the address that the API says the machine has. */
import { spawn } from 'node:child_process';
import net from 'node:net';
import type { Client } from '../client/index.ts';
import { exits, NotFoundError } from './failures.ts';
import { findPlaces } from './find.ts';
import type { Command } from './table.ts';

/** Ends with the code that ssh ends with. */
export async function goTo(
  client: Client,
  commands: readonly Command[],
  name: string,
  { user = 'root', rest }: { user?: string | undefined; rest: readonly string[] },
): Promise<number> {
  const show = commands.find(({ operation }) => operation === 'getServiceDetails');
  if (show === undefined) throw new Error('the description has no services');
  const { id } = await findPlaces(client, commands, show, { id: name });
  const { service } = await client.get('/dashboard/services/{id}', { path: { id: Number(id) } });
  const address = service.primary_ip;
  // It becomes an argument: nothing but an address may.
  if (address === null || net.isIP(address) === 0) throw new NotFoundError(`"${name}" has no address yet.`);
  const child = spawn('ssh', ['-l', user, address, ...rest], { stdio: 'inherit' });
  return new Promise((resolve, reject) => {
    child.on('error', (error: NodeJS.ErrnoException) =>
      reject(error.code === 'ENOENT' ? new NotFoundError('There is no ssh on this machine.') : error),
    );
    child.on('exit', (code) => resolve(code ?? exits.failed));
  });
}
