import type { DataOf, OperationAt, PathOf } from '../../../client/index.ts';
import { client } from './client.ts';

/** What a form is drawn of, with the tag that says how it was then. */
export interface Drawn<Of> {
  now: Of;
  tag: string | undefined;
}

/** What a form is drawn of, read anew each time. */
export interface Reading<Of> {
  read: () => Promise<Drawn<Of>>;
}

/**
 * What a form is drawn of: `drawnOf('/staff/nodes/{id}', { path: { id } })`. The tag comes with the data. Read apart from
 * each other, or the data from what the page remembers, the tag would vouch for what nobody has seen.
 */
export function drawnOf<P extends PathOf<'get'>>(
  ...of: Parameters<typeof client.getTagged<P>>
): Reading<DataOf<OperationAt<'get', P>>> {
  const read = async () => {
    const { data, tag } = await client.getTagged(...of);
    return { now: data, tag };
  };
  return { read };
}

/** A form of a part of what has one tag: what others change beside it is no change of what it is drawn of. */
export function partOf<Of, Part>(whole: Reading<Of>, part: (now: Of) => Part): Reading<Part> {
  const read = async () => {
    const { now, tag } = await whole.read();
    return { now: part(now), tag };
  };
  return { read };
}

/** What a form shows of what it is drawn of: `shown(['name', 'version'])`. */
export function shown<Name extends string>(names: readonly Name[]) {
  return <Whole extends Readonly<Record<Name, unknown>>>(whole: Whole): Pick<Whole, Name> =>
    Object.fromEntries(names.map((name) => [name, whole[name]])) as Pick<Whole, Name>;
}

/** Whether two who looked at it saw the same. */
export function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
