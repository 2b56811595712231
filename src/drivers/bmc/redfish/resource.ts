import { BmcError } from '../failure.ts';

/** A JSON object that a BMC sent: read by the fields that we know, each held to what it should be. */
export type Resource = Readonly<Record<string, unknown>>;

export function objectOf(value: unknown): Resource {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Resource;
  throw new BmcError('answer_invalid', 'the BMC answers no object: what answers may be no Redfish');
}

/** What stands there, however deep; undefined where nothing does. Names are the object's own, so that none means something else. */
export function at(resource: Resource, ...names: string[]): unknown {
  let value: unknown = resource;
  for (const name of names) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
    value = (value as Record<string, unknown>)[name];
  }
  return value;
}

/** Null where it is no text; cut to what a person would read. */
export function textAt(resource: Resource, ...names: string[]): string | null {
  const value = at(resource, ...names);
  if (typeof value !== 'string') return null;
  return (
    value
      .replace(/\p{Cc}+/gu, ' ')
      .trim()
      .slice(0, 300) || null
  );
}

export function numberAt(resource: Resource, ...names: string[]): number | null {
  const value = at(resource, ...names);
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
}

/** Objects of a list. What is beyond 2,000 is left out: a BMC that sends more is broken or hostile. */
export function listAt(resource: Resource, ...names: string[]): Resource[] {
  const value = at(resource, ...names);
  return Array.isArray(value) ? value.slice(0, 2_000).map(objectOf) : [];
}

export function textsAt(resource: Resource, ...names: string[]): string[] {
  const value = at(resource, ...names);
  return Array.isArray(value) ? value.slice(0, 100).filter((each) => typeof each === 'string') : [];
}

/** Where a link leads; null where there is none. One that leads away from the BMC is none that we follow. */
export function linkAt(resource: Resource, ...names: string[]): string | null {
  const path = at(resource, ...names, '@odata.id');
  return path === undefined ? null : checkedPath(path);
}

export function checkedPath(path: unknown): string {
  const isOurs =
    typeof path === 'string' && path.length <= 300 && /^\/redfish\/[\w\-./~%#$?=&,:()']*$/.test(path);
  if (isOurs && !path.includes('..')) return path;
  throw new BmcError('answer_invalid', 'the BMC names a path that is none of Redfish');
}

/** What it says is wrong, without what we sent. */
export function refusalIn(body: Resource, secrets: readonly string[]): string {
  const [info] = listAt(body, 'error', '@Message.ExtendedInfo');
  const said = (info && textAt(info, 'Message')) ?? textAt(body, 'error', 'message') ?? 'it gives no reason';
  return secrets.filter(Boolean).reduce((left, secret) => left.replaceAll(secret, '(secret)'), said);
}
