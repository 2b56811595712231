import type { Readable } from 'node:stream';
import type { MultipartFile, MultipartValue } from '@fastify/multipart';
import type { FastifyRequest } from 'fastify';
import { type AppError, fail, refuse } from '../errors.ts';
import { tooLarge } from './bytes.ts';
import { problemOfText } from './json.ts';
import { type Kinds, valueFrom } from './parameters.ts';

/** A form has no more fields beside its files. */
const mostFields = 50;
const longestField = 262_144;

interface Form {
  field: string;
  kinds: Kinds;
  most: number;
  /** Of one file: one byte more is read, by which it is known to be too long. */
  mostBytes: number;
  tooMany(): AppError;
  take(file: { content: Readable; name: string; type: string }): Promise<void>;
}

/** Reads a form (`multipart/form-data`) while it arrives, its files by `take`, and returns its other fields. */
export async function readForm(request: FastifyRequest, form: Form): Promise<Record<string, unknown>> {
  const { field, kinds, most, mostBytes } = form;
  const limits = {
    ...{ fieldNameSize: 100, fieldSize: longestField, fields: mostFields, headerPairs: 20 },
    ...{ files: most + 1, fileSize: mostBytes + 1, parts: mostFields + most + 1 },
  };
  const values: Record<string, unknown> = {};
  let files = 0;
  try {
    for await (const part of request.parts({ limits })) {
      if (part.type === 'field') {
        addField(values, part, field, kinds);
        continue;
      }
      if (await isEmptyInput(part)) continue;
      if (part.fieldname !== field) throw invalid(part.fieldname, `takes no file; files go into ${field}`);
      files += 1;
      if (files > most) throw form.tooMany();
      if (!/^(7bit|8bit|binary)$/i.test(part.encoding))
        throw invalid(field, `has a file as ${part.encoding.slice(0, 30)}; send files as they are`);
      await form.take({ content: part.file, name: part.filename, type: part.mimetype });
    }
  } catch (error) {
    throw failureOf(error, form);
  }
  return values;
}

/** A browser sends a file without name and length for a field into which nobody put one. */
async function isEmptyInput(part: MultipartFile): Promise<boolean> {
  if (part.filename !== undefined && part.filename !== '') return false;
  for await (const chunk of part.file)
    if (chunk.length > 0) throw invalid(part.fieldname, 'has a file without a name');
  return true;
}

function addField(values: Record<string, unknown>, part: MultipartValue, field: string, kinds: Kinds): void {
  const { fieldname: name, value } = part;
  if (typeof value !== 'string') throw invalid(name, 'must be plain text');
  if (part.fieldnameTruncated || part.valueTruncated) throw invalid(name, 'is too long');
  if (name === field) throw invalid(name, 'must be a file: give it a name, as in filename="photo.png"');
  if (Object.hasOwn(values, name)) throw fail('duplicate_key');
  const problem = problemOfText(name) ?? problemOfText(value);
  if (problem !== null) throw invalid(name, problem);
  values[name] = valueFrom(value, kinds.get(name));
}

function invalid(field: string, message: string): AppError {
  const name = field.toWellFormed().replaceAll('\u0000', '\ufffd').slice(0, 100) || 'body';
  return refuse(name, message);
}

/** What the reader of forms says, in words of ours. */
function failureOf(error: unknown, form: Form): unknown {
  if (!(error instanceof Error) || (error as { status?: number }).status !== undefined) return error;
  const { code, message } = error as Error & { code?: string };
  switch (code) {
    case 'FST_FILES_LIMIT':
      return form.tooMany();
    case 'FST_REQ_FILE_TOO_LARGE':
      return tooLarge(form.mostBytes);
    case 'FST_PARTS_LIMIT':
    case 'FST_FIELDS_LIMIT':
      return fail('invalid_request', {
        details: [{ field: 'body', message: `has too many parts; at most ${mostFields} fields are read` }],
      });
    case 'FST_PROTO_VIOLATION':
      return fail('invalid_request', {
        details: [{ field: 'body', message: 'has a field of a name that none can have' }],
      });
    case 'FST_INVALID_JSON_FIELD_ERROR':
      return fail('invalid_request', {
        details: [{ field: 'body', message: 'has a field that is not plain text' }],
      });
    case 'FST_MP_PREMATURE_CLOSE':
      return fail('malformed_request', { cause: error });
  }
  if (/boundary|multipart|terminated early|part header|content-type/i.test(message)) {
    const what = /boundary not found/i.test(message)
      ? 'is a form whose Content-Type names no boundary'
      : 'is no whole form';
    return fail('invalid_request', { details: [{ field: 'body', message: what }], cause: error });
  }
  return error;
}
