import type { Context, ErrorDetail, TxContext } from '../../platform/index.ts';
import type { Terms } from '../terms.ts';

/** What a kind of service needs of its room while it becomes another product; the room above hands it over. */
export interface Growth {
  /** What the provider cannot do for it at the moment, by option. */
  problems: (ctx: Context, service: Terms, options: Record<string, unknown>) => Promise<ErrorDetail[]>;
  /** Holds what it needs to grow, until it counts or is given up. `insufficient_stock`. The service's row is locked. */
  hold: (tx: TxContext, service: Terms, options: Record<string, unknown>) => Promise<void>;
}

/** By the type of the service; a kind that staff looks after needs none. */
export type Growths = Partial<Record<string, Growth>>;
