import type { ImageDescription } from '../images/recipe.ts';
import type { Log } from '../log.ts';

export interface IncusOptions {
  /** Where the cluster answers, any of which will do: `https://192.0.2.1:8443`. */
  endpoints: readonly string[];
  /** The certificate that the cluster presents, PEM. Whoever presents another is not spoken to. */
  serverCertificate: string;
  /** What we are known by there, PEM. */
  certificate: string;
  key: string;
  /** A project that is ours alone: what else runs in the cluster is never looked at. */
  project: string;
  /** The storage pool that disks are made in, on every member. */
  pool: string;
  /** The bridge that machines are plugged into, on every member. */
  bridge: string;
  /** The member that new machines are made on; null: the cluster chooses. */
  member: string | null;
  /** Folder of images that are built or downloaded here before they are uploaded. */
  imagesDir: string;
  /**
   * Settings for machines of an image that brings no boot loader, which only a host that has its kernel at hand can start; null
   * where it cannot. Default: no host can.
   */
  directBoot?: (image: ImageDescription) => Record<string, string> | null;
  /** Whether hosts can limit what guests send, which takes the kernel's `act_police`. Default: yes. */
  policesEgress?: boolean;
  log: Log;
}
