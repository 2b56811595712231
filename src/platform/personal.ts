import type { TxContext } from './context.ts';
import { type Statement, statement } from './database/index.ts';
import type { ErrorDetail } from './errors.ts';

/** Whose rows are exported. */
export interface Whose {
  userId: number;
  /** The addresses at which they get mails, confirmed. */
  emails: string[];
  /** The organizations that they own. */
  organizationIds: number[];
}

/** What closing an account does with the rows of a table; of what is kept, why. */
type Closing = 'deleted' | 'cleared' | { kept: string };

interface Declared {
  /** Columns that name the person whose row it is. */
  people?: readonly string[];
  /** The column that names the organization; its owners get the row. */
  organization?: string;
  /** Columns that name people who had to do with it, of staff or of the organization: it is no row of theirs. */
  others?: readonly string[];
  /** Which rows `t` are exported, where the columns do not say it. */
  where?: string;
  /** The row `t` as JSON, where not every reader gets all of it. */
  shown?: string;
  /** Makes of a row what a person can read, where the columns are for programs. */
  opened?: (row: Record<string, unknown>) => Record<string, unknown>;
  /** Columns that are never exported, such as secrets. */
  without?: readonly string[];
  /** Why no row is exported at all. */
  hidden?: string;
  closing: Closing;
}

/** A table that knows of people or organizations, and what becomes of its rows where they concern a person. */
export interface PersonalTable extends Declared {
  readonly table: string;
  /** Each row as JSON; null where nothing is exported. */
  readonly rows: Statement<{ row: string }, Whose> | null;
}

/** What closes with an account. */
export interface ClosingAccount {
  readonly userId: number;
  /** The organizations that nobody else is in: they end with the account. */
  readonly organizationIds: readonly number[];
  /** Whether credit that is left there is given up. */
  readonly givesUpCredit: boolean;
}

/** What a room knows of people. */
export interface PersonalRoom {
  readonly tables: readonly PersonalTable[];
  /** What stands in the way of closing, each named. It locks what could come meanwhile. */
  obstacles?(tx: TxContext, closing: ClosingAccount): Promise<ErrorDetail[]>;
  /** Forgets what nobody has to keep. */
  forget?(tx: TxContext, closing: ClosingAccount): Promise<void>;
}

/** Why what stands in the books stays. */
export const keptByLaw = { kept: 'books, and what they stand on, are kept as long as the law wants them' };

/** Declares what is exported of a table, and what closing an account does with it. */
export function personalTable(table: string, declared: Declared): PersonalTable {
  const { people = [], organization, where, shown = 'to_jsonb(t)', without = [], hidden } = declared;
  const ofPeople = people.map((column) => `t.${column} = :userId`);
  const ofOrganization =
    organization === undefined ? [] : [`t.${organization} = any(:organizationIds::bigint[])`];
  const condition = where ?? [...ofPeople, ...ofOrganization].join(' or ');
  const secrets = without.map((column) => `'${column}'`).join(', ');
  const rows =
    hidden === undefined
      ? statement<{ row: string }, Whose>(
          `export.${table}`,
          `select ((${shown}) - array[${secrets}]::text[])::text as row from ${table} t where ${condition}`,
        )
      : null;
  return { table, ...declared, rows };
}
