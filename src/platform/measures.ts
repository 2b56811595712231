import type { Context } from './context.ts';

/** A number with its labels, of one of a source's gauges. */
export interface Sample {
  name: string;
  labels?: Record<string, string>;
  value: number;
}

export interface MeasureDeclaration {
  /** What follows `innkeeper_`, with the unit at its end; what only goes up ends in `_total`. */
  name: string;
  help: string;
}

/**
 * What a room counts of its tables for whoever watches the product. Read every few seconds at most, however large the
 * tables are: by an index, in milliseconds.
 */
export interface MeasureSource {
  measures: readonly MeasureDeclaration[];
  read(ctx: Context): Promise<Sample[]>;
}
