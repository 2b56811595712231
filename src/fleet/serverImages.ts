import { type DiskSource, readsUserData, type TreeName } from '../drivers/installer/index.ts';
import type { Context } from '../platform/index.ts';
import { type Image, listImages } from './images.ts';

/** What a server is installed from: a file tree that we build, or the image of a disk that goes to one disk as it is. */
export type ServerSystem = { kind: 'tree'; tree: TreeName } | { kind: 'disk'; disk: DiskSource };

/** Systems that servers can be installed with, by the recipe that builds them: those of which there is a file tree. */
const trees: Readonly<Record<string, TreeName>> = { tiny: 'tiny', 'debian-12': 'debian-12' };

/** What a server is installed from with this image; null: nothing, and it is for machines alone. */
export function serverSystemOf({
  source,
  forServers,
}: Pick<Image, 'source' | 'forServers'>): ServerSystem | null {
  if (source.kind === 'download') {
    const { slug, url, sha256 } = source;
    return forServers ? { kind: 'disk', disk: { slug, url, sha256 } } : null;
  }
  const tree = trees[source.recipe];
  return tree === undefined ? null : { kind: 'tree', tree };
}

/** Whether a system that servers are installed from reads its customer's user data. Vendors' images have cloud-init. */
export function takesUserData(system: ServerSystem): boolean {
  return system.kind === 'disk' || readsUserData(system.tree);
}

/** Why a system cannot go onto a mirror; null: it can. */
export function reasonAgainstMirror(system: ServerSystem): string | null {
  return system.kind === 'tree'
    ? null
    : 'it comes as the image of a disk, which goes to one disk: choose single';
}

/** The images on offer that servers can be installed with. */
export async function listServerImages(ctx: Context): Promise<Image[]> {
  return (await listImages(ctx)).filter((image) => serverSystemOf(image) !== null);
}
