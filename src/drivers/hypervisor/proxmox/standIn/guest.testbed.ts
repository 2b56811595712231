import { createServer, type Server } from 'node:net';
import { isoFiles } from '../../formats/iso9660.ts';
import { addressScript } from '../../qemu/addresses.ts';

/** What runs in a machine: as much of a guest as can be seen from outside of one. */
export interface Guest {
  isUp: boolean;
  hostname: string;
  addresses: string[];
  passwordHash: string | null;
  /** Its agent says nothing. */
  isSilent: boolean;
  /** Runs a program, as its agent is asked to. */
  execute(command: readonly string[]): { exitcode: number; error: string };
  /** Another disc is in its drive; a guest looks at that when it boots. */
  reset(disc: Buffer | null): void;
  end(): void;
}

/** A guest boots, reads the disc in its drive as cloud-init does, and answers on SSH where its addresses are this host's own. */
export function startGuest(disc: Buffer | null, bootMs: number): Guest {
  let booting: NodeJS.Timeout;
  const listening: Server[] = [];
  const guest: Guest = {
    ...{ isUp: false, hostname: '', addresses: [], passwordHash: null, isSilent: false },
    execute([program = '', ...args]) {
      const [, script, , ...values] = args;
      if (program !== '/bin/sh') return { exitcode: 127, error: `${program}: not found` };
      // The one program of ours whose doing is to be seen from outside.
      if (script === addressScript) take(values.slice(1).filter((each) => each.startsWith('have ')));
      return { exitcode: 0, error: '' };
    },
    reset(another) {
      stop();
      boot(another);
    },
    end: stop,
  };

  function boot(from: Buffer | null): void {
    booting = setTimeout(() => {
      const files = from === null ? new Map<string, string>() : isoFiles(from);
      const network = JSON.parse(files.get('network-config') ?? '{}');
      guest.hostname = JSON.parse(files.get('meta-data') ?? '{}')['local-hostname'] ?? guest.hostname;
      guest.addresses = (network.ethernets?.eth0.addresses ?? []).map((each: string) => each.split('/')[0]);
      guest.passwordHash =
        /\\?"hashed_passwd\\?":\\?"([^"\\]+)/.exec(files.get('vendor-data') ?? '')?.[1] ?? guest.passwordHash;
      guest.isUp = true;
      for (const address of guest.addresses) if (address.startsWith('127.')) listen(address);
    }, bootMs);
  }

  function take(lines: readonly string[]): void {
    guest.addresses = lines.map((line) => line.split(' ')[2] ?? '');
  }

  function listen(address: string): void {
    const server = createServer((socket) => {
      socket.on('error', () => socket.destroy());
      socket.end('SSH-2.0-guest\r\n');
    });
    server.on('error', () => undefined); // then nobody answers there
    server.listen(22, address);
    listening.push(server);
  }

  function stop(): void {
    clearTimeout(booting);
    guest.isUp = false;
    for (const server of listening.splice(0)) server.close();
  }

  boot(disc);
  return guest;
}
