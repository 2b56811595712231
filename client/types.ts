import type { components, operations, paths, webhooks } from './generated/api.ts';

export type Method = 'get' | 'post' | 'patch' | 'put' | 'delete';

/** Every path that takes the method: `/dashboard/services/{id}`. */
export type PathOf<M extends Method> = {
  [P in keyof paths]: [NonNullable<paths[P][M]>] extends [never] ? never : P;
}[keyof paths];

export type OperationAt<M extends Method, P extends PathOf<M>> = NonNullable<paths[P][M]>;
export type OperationName = keyof operations;

/** What the product tells of by itself, over streams and webhooks. */
export type EventName = keyof webhooks & string;

/** A shape of the description by its name: `Schema<'Service'>`. */
export type Schema<Name extends keyof components['schemas']> = components['schemas'][Name];

/** What an operation answers in `data` when all is well. */
export type DataOf<O> = O extends {
  responses: { 200: { content: { 'application/json': { data: infer Data } } } };
}
  ? Data
  : never;

/** What stands beside that, such as `warnings`. */
export type BesideOf<O> = O extends { responses: { 200: { content: { 'application/json': infer Answer } } } }
  ? Omit<Answer, 'success' | 'data'>
  : never;

/** What an operation takes as its body; never when it takes none. */
export type BodyOf<O> = O extends { requestBody: { content: { 'application/json': infer Body } } }
  ? Body
  : O extends { requestBody?: { content: { 'application/json': infer Body } } }
    ? Body
    : never;

type ParametersOf<O, In extends 'path' | 'query'> = O extends { parameters: infer All }
  ? In extends keyof All
    ? NonNullable<All[In]>
    : never
  : never;

type Part<Name extends string, Value> = [Value] extends [never]
  ? { [K in Name]?: never }
  : Record<string, never> extends Value
    ? { [K in Name]?: Value }
    : { [K in Name]: Value };

/** What a call of an operation is given. */
export type Given<O> = Part<'path', ParametersOf<O, 'path'>> &
  Part<'query', ParametersOf<O, 'query'>> &
  Part<'body', BodyOf<O>> &
  CallOptions;

export interface CallOptions {
  /** The organization that is asked for, instead of the client's own. */
  organization?: number;
  /** Of a POST: the same key gets the same answer. One is made when there is none. */
  idempotencyKey?: string;
  /** Of a change: refused when the thing is no longer as it was read. */
  ifMatch?: string;
  signal?: AbortSignal;
}
