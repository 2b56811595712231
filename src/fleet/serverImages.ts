import type { TreeName } from '../drivers/installer/index.ts';
import { type Context, fail } from '../platform/index.ts';
import { type Image, listImages } from './images.ts';

/** Systems that servers can be installed with, by the recipe that builds them: those of which there is a file tree. */
const trees: Readonly<Record<string, TreeName>> = { tiny: 'tiny' };

/** The file tree that a server is installed from with this image; null: there is none, and it is for machines alone. */
export function serverTreeOf({ source }: Pick<Image, 'source'>): TreeName | null {
  return source.kind === 'build' ? (trees[source.recipe] ?? null) : null;
}

/** The images on offer that servers can be installed with. */
export async function listServerImages(ctx: Context): Promise<Image[]> {
  return (await listImages(ctx)).filter((image) => serverTreeOf(image) !== null);
}

/** The image of that name that is on offer for servers; `not_found` when there is none. */
export async function requireServerImage(ctx: Context, slug: string): Promise<Image & { tree: TreeName }> {
  const offered = await listServerImages(ctx);
  const image = offered.find((each) => each.slug === slug);
  const tree = image && serverTreeOf(image);
  if (image !== undefined && tree) return { ...image, tree };
  const names = offered.map((each) => each.slug).join(', ');
  throw fail('not_found', {
    message: `There is no operating system called ${slug} for servers; there are ${names || 'none'}`,
  });
}
