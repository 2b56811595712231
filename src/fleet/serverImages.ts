import { readsUserData, type TreeName } from '../drivers/installer/index.ts';
import type { Context } from '../platform/index.ts';
import { type Image, listImages } from './images.ts';

/** Systems that servers can be installed with, by the recipe that builds them: those of which there is a file tree. */
const trees: Readonly<Record<string, TreeName>> = { tiny: 'tiny', 'debian-12': 'debian-12' };

/** The file tree that a server is installed from with this image; null: there is none, and it is for machines alone. */
export function serverTreeOf({ source }: Pick<Image, 'source'>): TreeName | null {
  return source.kind === 'build' ? (trees[source.recipe] ?? null) : null;
}

/** Whether a system that servers are installed from reads its customer's user data. */
export { readsUserData };

/** The images on offer that servers can be installed with. */
export async function listServerImages(ctx: Context): Promise<Image[]> {
  return (await listImages(ctx)).filter((image) => serverTreeOf(image) !== null);
}
