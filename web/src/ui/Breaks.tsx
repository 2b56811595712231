import { Fragment } from 'react';

/** What is no longer than this fits on a line wherever it stands. */
const fits = 15;

/** A name of one long word, such as a machine's: it is broken behind a dot or a hyphen, not before its last letter. */
export function Breaks({ name }: { name: string }) {
  if (name.length <= fits) return name;
  let at = 0;
  // No lookbehind: a Safari that has none would load nothing of the file.
  return (name.match(/[^.@_-]*[.@_-]+(?=\w)|.+$/g) ?? [name]).map((part) => {
    at += part.length;
    return (
      <Fragment key={at}>
        {at > part.length && <wbr />}
        {part}
      </Fragment>
    );
  });
}
