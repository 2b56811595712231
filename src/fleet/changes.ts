/** What staff may add and change; what is absent stays as it is. */

export interface NewImage {
  slug: string;
  name: string;
  version: string;
  min_memory_mib: number;
  min_disk_gib: number;
  source:
    | { kind: 'build'; recipe: string }
    | { kind: 'download'; url: string; sha256: string; guest: 'cloud-init' };
  for_servers?: boolean;
}

export interface ImageChange {
  name?: string;
  version?: string;
  min_memory_mib?: number;
  min_disk_gib?: number;
  active?: boolean;
  for_servers?: boolean;
}

export interface NodeChange {
  state?: 'active' | 'draining' | 'down';
  cpu_overcommit?: number;
  memory_reserve_mib?: number;
  disk_reserve_gib?: number;
}
