import { useState } from 'react';

/** What was read, with the tag that says how it was then. */
interface Tagged {
  tag: string | undefined;
}

/**
 * What a form was drawn of. It stays that when what there is changes: what is sent says of what it is a change, and is
 * refused when somebody else was quicker, whose change would be overwritten unseen. `key` is the form's. `drawAnew` puts
 * into it what there is now; `sent` takes that as known, after a change of one's own, where it is what that change made.
 */
export function useDrawn<Found extends Tagged>(
  now: Found,
  readAnew: () => Promise<{ data: Found | undefined }>,
) {
  const [{ found, key }, setDrawn] = useState({ found: now, key: 0 });
  const sent = async (made: Omit<Found, 'tag'>) => {
    const { data } = await readAnew();
    // Somebody was at it between the change and this look: the form shows nothing of that, so the next change has to be refused.
    if (data === undefined || !isSame(data, made)) return;
    setDrawn((before) => ({ ...before, found: data }));
  };
  const drawAnew = async () => {
    const { data } = await readAnew();
    if (data !== undefined) setDrawn((before) => ({ found: data, key: before.key + 1 }));
  };
  return { found, key, sent, drawAnew };
}

function isSame({ tag: _, ...found }: Tagged, made: object): boolean {
  return JSON.stringify(found) === JSON.stringify(made);
}
