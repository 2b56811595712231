import { AppError, type ErrorDetail, fail, statusName } from '../errors.ts';
import { tooLarge } from './bytes.ts';

export interface ErrorBody {
  success: false;
  error: string;
  message: string;
  code: string;
  details?: ErrorDetail[];
  request_id: string;
}

/** The body of every error answer (contract §1). */
export function errorBody(error: AppError, requestId: string, details = error.details): ErrorBody {
  return {
    success: false,
    error: statusName(error.status),
    message: error.message,
    code: error.code,
    ...(details && { details }),
    request_id: requestId,
  };
}

const refusedValues: unknown[] = ['22007', '22008', '22P02'];

/**
 * Whether PostgreSQL could not read a value as a date, a number or an address. Schemas and cursors are to refuse
 * those first; what they let pass is the caller's mistake all the same.
 */
export function isRefusedValue(thrown: unknown): boolean {
  return thrown instanceof Error && 'code' in thrown && refusedValues.includes(thrown.code);
}

/** Turns whatever was thrown into an error with a public face. What is not ours says nothing to the outside. */
export function asAppError(thrown: unknown, bodyLimit: number): AppError {
  if (thrown instanceof AppError) return thrown;
  const code = thrown instanceof Error && 'code' in thrown ? thrown.code : undefined;
  switch (code) {
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return fail('unsupported_media_type');
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return tooLarge(bodyLimit);
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
      return fail('malformed_request', { message: 'Content-Length is not the length of the body' });
    case 'FST_ERR_BAD_URL':
      return fail('malformed_request', { message: 'The path is not valid percent-encoding' });
    case 'FST_ERR_MAX_PARAM_LENGTH':
      return fail('not_found');
    case 'ECONNRESET':
    case 'ERR_STREAM_PREMATURE_CLOSE':
      // The caller went away while it was sending; nobody reads this answer.
      if (thrown instanceof Error && thrown.message === 'aborted') return fail('malformed_request');
      break;
  }
  if (isRefusedValue(thrown)) return fail('invalid_request', { cause: thrown });
  return fail('internal_error', { cause: thrown });
}
