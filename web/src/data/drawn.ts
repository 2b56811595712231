import { useState } from 'react';

/** What was read, with the tag that says how it was then. */
interface Tagged {
  tag: string | undefined;
}

/**
 * What a form was drawn of. It stays that when what there is changes: what is sent says of what it is a change, and is
 * refused when somebody else was quicker, whose change would be overwritten unseen. `key` is the form's. `drawAnew` puts
 * into it what there is now; `sent` takes that as known, after a change of one's own.
 */
export function useDrawn<Found extends Tagged>(
  now: Found,
  readAnew: () => Promise<{ data: Found | undefined }>,
) {
  const [{ found, key }, setDrawn] = useState({ found: now, key: 0 });
  const read = async (isDrawn: boolean) => {
    const { data } = await readAnew();
    if (data !== undefined) setDrawn((before) => ({ found: data, key: before.key + (isDrawn ? 1 : 0) }));
  };
  return { found, key, sent: () => read(false), drawAnew: () => read(true) };
}
