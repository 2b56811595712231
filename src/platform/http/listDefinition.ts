/** What a cursor carries of a column, by the column's type. */
export const cursorKeys = { bigint: 'integer', text: 'text', inet: 'text', timestamptz: 'time' } as const;

/** What rows are put in order by: an expression, and its value in a row, which the cursor carries. */
export interface SortKey<Row> {
  by: string;
  /** A cursor knows a time to the millisecond, as the product writes it. */
  type: keyof typeof cursorKeys;
  of: (row: Row) => string | number;
}

export interface ListDefinition<Row> {
  /** Prefix of the statements' names. */
  name: string;
  /** The rows that are counted: `services t`. */
  from: string;
  /** Everything before `where`, with the same name for the table. */
  select: string;
  /** What holds for all of the list: `t.user_id = :userId`. */
  within?: string;
  /** Conditions that a request may add, by the name of their value: `status: 't.status = :status'`. */
  filters?: Record<string, string>;
  /** Unique in the list, and the last word wherever the others leave rows equal. */
  key: SortKey<Row>;
  /** By what a request may sort, by the names it uses; null is the key alone. */
  sorts: Record<string, SortKey<Row> | null>;
  /** How the list is sorted when the request does not say: `-created_at`. */
  order: string;
  /** The key counts 1, 2, 3 … in the list: without filters a page is a range of it, however deep. */
  numbered?: boolean;
  /** Up to how many entries are counted; 10,000 when absent. */
  countCap?: number;
  /** Parameters of `within` between which lies the moment that the list is always sorted by: from one, and before the other. */
  bounds?: { since: string; until: string };
  /** Texts that `search` finds by their beginning, in their order; each has an index that ends in the key. */
  search?: Pick<SortKey<Row>, 'by'>[];
}
