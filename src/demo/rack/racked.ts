import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { type SimulatedBmc, type SimulatedRack, simulatedRack } from '../../drivers/bmc/index.ts';
import { bootScriptFor, installerOf } from './installer.ts';
import { type PlayedServer, playServer } from './played.ts';

/** What of a rack of played servers outlives the process that plays them. */
interface Kept {
  servers: KeptServer[];
}

interface KeptServer {
  bmc: Pick<SimulatedBmc, 'power' | 'nextBoot' | 'accounts' | 'starts'>;
  left: Pick<PlayedServer, 'wipes' | 'system' | 'isInstalling'>;
}

/** The network that they hang on, as whoever serves it says. */
export interface Cable {
  /** Where boot scripts are. */
  script: string;
  /** Who gets an address there. */
  reserved: string[];
  strangers: boolean;
}

/** Who a server of the rack is, by its number from 1 on. */
export function identityOf(nth: number) {
  const number = String(nth).padStart(2, '0');
  return {
    serial: `DEMO-${number}`,
    mac: `52:54:00:de:00:${nth.toString(16).padStart(2, '0')}`,
    disks: [`DEMO-${number}-A`, `DEMO-${number}-B`],
    // Of a network for documents, which leads nowhere.
    bmcAddress: `198.51.100.${10 + nth}`,
  };
}

export interface PlayedRack {
  bmcs: SimulatedRack;
  servers: PlayedServer[];
  /** Addresses at which a server greets by SSH. */
  greets: Set<string>;
  plug(cable: Cable): void;
  /** Keeps what has changed since. */
  keep(): void;
}

const stepMs = 250;
/** As its inventory says. */
const diskBytes = 960_197_124_096;

/**
 * So many servers with their BMCs, which are what `file` says that they were. New ones are on, as whoever puts a server into a rack
 * switches it on for the first time.
 */
export function openPlayedRack(file: string, count: number): PlayedRack {
  const before = readKept(file);
  const bmcs = simulatedRack();
  const greets = new Set<string>();
  const servers: PlayedServer[] = [];
  let cable: Cable | null = null;
  let kept = '';
  const keep = () => {
    const now = JSON.stringify({ servers: servers.map(keptOf) } satisfies Kept, null, 1);
    if (now === kept) return;
    writeFileSync(`${file}.partial`, now, { mode: 0o600 });
    renameSync(`${file}.partial`, file);
    kept = now;
  };
  const network = {
    greets,
    installer: installerOf,
    async starts(mac: string) {
      if (cable === null || !(cable.strangers || cable.reserved.includes(mac)))
        throw new Error('nobody gives it an address');
      return bootScriptFor(cable.script, mac);
    },
  };
  for (let nth = 1; nth <= Math.max(count, before.servers.length); nth += 1) {
    const { bmcAddress, ...identity } = identityOf(nth);
    const was = before.servers[nth - 1];
    const bmc = bmcs.put(bmcAddress, { power: 'on', ...was?.bmc });
    const played = { ...identity, bmc, bmcAddress, stepMs, diskBytes, noted: keep };
    // Which takes no longer than it takes here.
    const wipedBy = 'sanitize-crypto' as const;
    const does = { wipedBy, triesAgain: true, speaks: true };
    servers.push(playServer(network, { ...played, ...does, ...(was && { left: was.left }) }));
  }
  keep();
  for (const server of servers) server.goOn();
  return {
    ...{ bmcs, servers, greets, keep },
    plug: (to) => {
      cable = to;
    },
  };
}

function keptOf({ bmc, wipes, system, isInstalling }: PlayedServer): KeptServer {
  const { power, nextBoot, accounts, starts } = bmc;
  return {
    bmc: { power, nextBoot, accounts, starts: starts.slice(-20) },
    left: { wipes, system, isInstalling },
  };
}

function readKept(file: string): Kept {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Kept;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { servers: [] };
    throw error;
  }
}
