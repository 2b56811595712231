import type { PathOf } from '../../../client/index.ts';
import { client } from './client.ts';

type Tagged = <P extends PathOf<'get'>>(
  ...of: Parameters<typeof client.getTagged<P>>
) => () => Promise<string | undefined>;

/** Reads how a thing is now, as its tag says: `tagOf('/staff/nodes/{id}', { path: { id } })`. */
export const tagOf: Tagged =
  (...of) =>
  async () =>
    (await client.getTagged(...of)).tag;
