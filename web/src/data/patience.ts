/** A break of a stream that is shorter than this is nobody's concern. */
export const patienceMs = 3_000;
/** Until a stream that was refused is asked for again. */
export const refusedMs = 10_000;
