import type { Cluster, ClusterConnection, ClusterEngine } from './cluster.ts';
import { incusCluster } from './incus/driver.ts';
import type { Log } from './log.ts';

/** What of this process a driver of a cluster works with. */
export interface ClusterSurroundings {
  /** Folder of images that are built or downloaded here before they are uploaded. */
  imagesDir: string;
  log: Log;
}

export type OpenCluster = (connection: ClusterConnection, surroundings: ClusterSurroundings) => Cluster;

const openers: Record<ClusterEngine, OpenCluster> = {
  incus: (connection, surroundings) => incusCluster({ ...connection, ...surroundings, member: null }),
};

/** The driver of a cluster, by its engine. Nothing is sent yet. Throws where the connection has no meaning. */
export const openCluster: OpenCluster = (connection, surroundings) =>
  openers[connection.engine](connection, surroundings);
