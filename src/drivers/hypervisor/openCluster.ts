import type { Cluster, ClusterConnection } from './cluster.ts';
import { incusCluster } from './incus/driver.ts';
import type { Log } from './log.ts';
import { proxmoxCluster } from './proxmox/driver.ts';

/** What of this process a driver of a cluster works with. */
export interface ClusterSurroundings {
  /** Folder of images that are built or downloaded here before they are uploaded. */
  imagesDir: string;
  log: Log;
}

export type OpenCluster = (connection: ClusterConnection, surroundings: ClusterSurroundings) => Cluster;

/** The driver of a cluster, by its engine. Nothing is sent yet. Throws where the connection has no meaning. */
export const openCluster: OpenCluster = (connection, surroundings) => {
  switch (connection.engine) {
    case 'incus':
      return incusCluster({ ...connection, ...surroundings, member: null });
    case 'proxmox': {
      const { project, pool, ...rest } = connection;
      return proxmoxCluster({ ...rest, ...surroundings, pool: project, storage: pool, node: null });
    }
  }
};
