import type { Log } from '../log.ts';

export interface ProxmoxOptions {
  /** Where the cluster answers, any of which will do: `https://192.0.2.1:8006`. */
  endpoints: readonly string[];
  /**
   * SHA-256 of the certificates that its nodes present, each of which has its own: 32 bytes in hexadecimal, with or without colons. Whoever
   * presents another is not spoken to.
   */
  fingerprints: readonly string[];
  /** What we are known by there, `innkeeper@pve!product`, and its secret. */
  tokenId: string;
  tokenSecret: string;
  /** A pool that is ours alone: what is not in it is never listed, counted or touched. */
  pool: string;
  /** Numbers that our machines take, both included; nobody else should. */
  vmids: { first: number; last: number };
  /** The storage that disks are made in, on every node; it has to know snapshots. */
  storage: string;
  /** A storage of files with the contents `iso` and `import`, on every node: what guests are told, and images. */
  files: string;
  /** The bridge that machines are plugged into, on every node. */
  bridge: string;
  /** The node that new machines are made on; null: that which has the most memory free. A cluster says it for each machine. */
  node: string | null;
  /** Folder of images that are built or downloaded here before they are uploaded. */
  imagesDir: string;
  /** How often we look whether a machine went off or on, in milliseconds: the engine tells nobody. Default: 3000. */
  watchMs?: number;
  /** How long nothing need be heard of a task before its node is taken for silent, in milliseconds. Default: a minute. */
  quietMs?: number;
  log: Log;
}

const forms = {
  node: /^[a-zA-Z0-9]([a-zA-Z0-9-]*[a-zA-Z0-9])?$/,
  storage: /^[a-zA-Z][a-zA-Z0-9._-]*[a-zA-Z0-9]$/,
  pool: /^[A-Za-z0-9._-]+(\/[A-Za-z0-9._-]+){0,2}$/,
  bridge: /^[a-zA-Z0-9._-]{1,15}$/,
  tokenId: /^[^\s:/!]+@[A-Za-z][A-Za-z0-9._-]+![A-Za-z][A-Za-z0-9._-]+$/,
  tokenSecret: /^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$/,
};

/** Whether it has the form of a host's name, which a node has (RFC 1035). */
export function isNodeName(name: string): boolean {
  return name.length <= 63 && forms.node.test(name);
}

/** Refuses what the engine could not take, in words, before anything is sent. */
export function checkOptions(options: ProxmoxOptions): void {
  const { tokenId, tokenSecret, pool, vmids, storage, files, bridge, node } = options;
  must(forms.tokenId.test(tokenId), `a token’s id looks like user@realm!name, and this does not: ${tokenId}`);
  must(forms.tokenSecret.test(tokenSecret), 'a token’s secret is a UUID, and this is none');
  must(forms.pool.test(pool), `no name of a pool: ${pool}`);
  for (const each of [storage, files]) must(forms.storage.test(each), `no name of a storage: ${each}`);
  must(forms.bridge.test(bridge), `no name of a bridge: ${bridge}`);
  must(node === null || isNodeName(node), `no name of a node: ${node}`);
  const { first, last } = vmids;
  const isRange = Number.isInteger(first) && Number.isInteger(last) && first <= last;
  must(
    isRange && first >= 100 && last <= 999_999_999,
    'numbers of machines go from 100 to 999999999, the first one first',
  );
  must(options.fingerprints.length > 0, 'a cluster has at least one certificate');
  for (const each of options.fingerprints)
    must(/^[0-9a-f]{64}$/.test(plainFingerprint(each)), `no SHA-256 of a certificate: ${each}`);
}

export function plainFingerprint(fingerprint: string): string {
  return fingerprint.replaceAll(':', '').toLowerCase();
}

function must(isSo: boolean, message: string): void {
  if (!isSo) throw new Error(message);
}
