import { HypervisorError, type ImageSource } from './contract.ts';

type WithoutSlug<T> = T extends unknown ? Omit<T, 'slug'> : never;

/** Where an image comes from, whatever it is called. */
export type Source = WithoutSlug<ImageSource>;

/** Refuses what cannot name an image; it becomes the name of a folder. */
export function checkImageSlug(slug: string): void {
  if (/^[a-z0-9][a-z0-9.-]{0,63}$/.test(slug)) return;
  const message = `not an image slug: ${JSON.stringify(slug)}`;
  throw new HypervisorError('spec_invalid', message, { permanent: true });
}

/** What decides the contents of an image. Of a download that is the checksum, wherever it comes from. */
export function contentsOf(source: Source): string {
  return source.kind === 'build' ? `built by ${source.recipe}` : `sha256 ${source.sha256.toLowerCase()}`;
}

/** `image_rejected` when the slug stands for another image: disks are layered over its files, so they never change. */
export function checkSameImage(image: ImageSource, there: Source): void {
  if (contentsOf(there) === contentsOf(image)) return;
  const message = `${image.slug} is here already, made from another source; choose another slug`;
  throw new HypervisorError('image_rejected', message, { permanent: true });
}
