import type { Progress } from '../contract.ts';
import type { Source } from '../imageSource.ts';

/** How a finished image is booted and told its identity; stored beside it as `image.json`. */
export interface ImageDescription {
  /** How its guests learn who they are: see `qemu/seed.ts`. */
  guest: 'tiny' | 'cloud-init';
  /** Files of the image's folder to boot directly and the kernel's command line; null: the disk boots itself. */
  boot: { kernel: string; initrd: string; commandLine: string } | null;
  /** Size of the image's own disk: a machine's disk cannot be smaller. */
  diskBytes: number;
  /** What it was made from; missing where an earlier version made it. */
  source?: Source;
}

/** Builds an image into an empty folder: `disk.qcow2` and what its description names. */
export interface Recipe {
  build(dir: string, progress: Progress): Promise<ImageDescription>;
}
