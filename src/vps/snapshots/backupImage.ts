import { findImage, type Image } from '../../fleet/index.ts';
import { type Context, fail } from '../../platform/index.ts';

/** The image that a backup starts with. `conflict`, for good, when it is no longer there. */
export async function requireBackupsImage(ctx: Context, slug: string): Promise<Image> {
  const image = await findImage(ctx, slug);
  if (image !== null) return image;
  const message = `This backup starts with the operating-system image ${slug}, which is no longer there`;
  throw Object.assign(fail('conflict', { message }), { permanent: true });
}
