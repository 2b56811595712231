import { setTimeout as delay } from 'node:timers/promises';
import { HypervisorError } from '../contract.ts';
import { type Agent, AgentRefusal, silent } from '../qemu/agent.ts';
import { asRecord } from './answers.ts';
import type { ProxmoxClient } from './client.ts';
import { ProxmoxRefusal } from './failure.ts';
import { machinePath } from './listed.ts';
import type { Machine } from './machines.ts';

/** What the engine passes on to a program in one call. */
const mostInput = 65_536;
/** A look at a program costs the cluster more than it costs a host. */
const againMs = 100;

/**
 * A conversation with the agent inside a guest, through the engine, which asks whether anybody listens before each command. The
 * commands that it has are known by the agent's names; all others are refused as by an agent without them.
 */
export function machineAgent(client: ProxmoxClient, machine: Machine): Agent {
  const path = `${machinePath(machine)}/agent`;
  const commands: Record<string, (args: Record<string, unknown>) => Promise<unknown>> = {
    'guest-ping': () => client.change('POST', `${path}/ping`),
    'guest-set-user-password': ({ username, password }) =>
      client.change('POST', `${path}/set-user-password`, {
        username: String(username),
        password: textOf(password),
        crypted: true,
      }),
    'guest-exec': ({ path: program, arg, 'input-data': data }) => {
      const input = textOf(data);
      if (input.length > mostInput)
        throw new AgentRefusal('guest-exec', 'GenericError', 'it takes 64 KiB at most');
      const command = [String(program), ...(Array.isArray(arg) ? arg.map(String) : [])];
      return client.change('POST', `${path}/exec`, { command, ...(input ? { 'input-data': input } : {}) });
    },
    'guest-exec-status': async ({ pid }) => {
      const status = asRecord(await client.read(`${path}/exec-status`, { pid: Number(pid) }), 'a program');
      if (Number(status.exited) !== 1) await delay(againMs);
      const data = typeof status['err-data'] === 'string' ? status['err-data'] : '';
      // Decoded already, and yes is 1 there.
      const printed = Buffer.from(data).toString('base64');
      return { ...status, exited: Number(status.exited) === 1, 'err-data': printed };
    },
  };

  return {
    async command(name, args = {}) {
      const asked = commands[name];
      if (!asked) throw new AgentRefusal(name, 'CommandNotFound', 'the engine does not pass it on');
      try {
        return await asked(args);
      } catch (error) {
        throw error instanceof ProxmoxRefusal ? refusalOf(name, machine.id, error) : error;
      }
    },
  };
}

/** Whether the guest's agent answers now. */
export async function answers(client: ProxmoxClient, machine: Machine): Promise<boolean> {
  return machineAgent(client, machine)
    .command('guest-ping')
    .then(
      () => true,
      () => false,
    );
}

/** The engine tells one kind of trouble from another by its words alone. */
function refusalOf(name: string, id: string, error: ProxmoxRefusal): Error {
  const { message } = error;
  if (error.isOfSilentNode || error.status === 403 || error.status === 400) return error;
  if (/VM \d+ is not running/.test(message))
    return new HypervisorError('not_running', `${id} is not running`);
  if (/agent is not running|agent configured|got timeout|timed out/i.test(message))
    return silent(message, error);
  if (/has been (disabled|not found)|command .* (not found|is not allowed)/i.test(message))
    return new AgentRefusal(name, 'CommandNotFound', message);
  return new AgentRefusal(name, 'GenericError', message);
}

function textOf(base64: unknown): string {
  return typeof base64 === 'string' ? Buffer.from(base64, 'base64').toString('utf8') : '';
}
