import type { TrafficKind } from '../../drivers/edge/index.ts';
import type { Minute, MinuteOver } from '../analytics/minutes.ts';
import type { Followed, WholeAttack } from '../attacks/rows.ts';
import type { Defences } from '../mitigation/defence.ts';
import { newShelf, type Shelf, type Turn } from '../mitigation/turn.ts';
import { type Aside, aside } from './aside.ts';
import type { Course } from './courses.ts';
import type { Attack } from './detect.ts';
import type { Counted } from './seen.ts';
import type { Elsewhere, Watched } from './watched.ts';

/** What is known of a node between two turns; all of it can be found again. */
export interface Known {
  watched: Map<string, Watched>;
  refreshedAt: number;
  /** What the edge counts for. */
  held: Set<string>;
  comparedAt: number;
  counted: Counted;
  readAt: Date;
  /** By address: what may become an attack, and what is one. */
  courses: Map<string, Course>;
  /** Attacks that are over, and not written down as that yet. */
  over: readonly Followed[];
  /** By address: what stands before it against attacks. */
  defences: Defences;
  full: readonly TrafficKind[];
  minute: Minute;
  minutesOver: readonly MinuteOver[];
}

/** What goes to the database and comes from it, beside the turns: packets are watched also while it is away. */
export interface Beside {
  /** Who has which addresses, once that has been read anew. */
  watched: Map<string, Watched> | null;
  /** Of those that are the node's no more: what another looks after. */
  elsewhere: readonly Elsewhere[];
  /** What was written down of addresses whose machine has come here. */
  arrived: { attacks: WholeAttack[]; defences: Defences } | null;
  shelf: Shelf;
  /** By attack: as it was last written down, and as it was last told of. */
  written: Map<number, Attack>;
  told: Map<number, Attack>;
  /** Minutes that are written down. */
  minutes: Set<number>;
  reading: Aside;
  writing: Aside;
  counting: Aside;
  noting: Aside;
  /** Tells routers that this process speaks to. */
  tell: Turn['tell'];
  /** Does what the database may refuse, which is said at the end of the turn. */
  attempt(work: () => Promise<void>): Promise<void>;
}

export function besideWith(failures: unknown[], tell: Turn['tell']): Beside {
  return {
    ...{ watched: null, elsewhere: [], arrived: null, shelf: newShelf() },
    ...{ written: new Map(), told: new Map(), minutes: new Set() },
    ...{ reading: aside(), writing: aside(), counting: aside(), noting: aside(), tell },
    attempt: (work) => work().catch((error: unknown) => void failures.push(error)),
  };
}
