import { ProgramError, runProgram } from '../../platform/host/program.ts';

/** An interface of this host, and our first IPv4 address on it. */
export interface OwnAddress {
  interface: string;
  address: string;
  prefix: number;
}

interface Said {
  addr_info?: { family: string; local: string; prefixlen: number; scope: string }[];
}

/** Null where there is no such interface, or none that has an IPv4 address. Whether its cable is in says nothing: it may be put in later. */
export async function ownAddress(name: string): Promise<OwnAddress | null> {
  const said = await runProgram(['ip', '-j', '-4', 'address', 'show', 'dev', name]).catch(
    (error: unknown) => {
      if (error instanceof ProgramError) return null;
      throw error;
    },
  );
  const [own] = ((said && (JSON.parse(said.stdout || '[]') as Said[])) ?? []).flatMap(
    ({ addr_info: addresses = [] }) => addresses,
  );
  return own === undefined ? null : { interface: name, address: own.local, prefix: own.prefixlen };
}
