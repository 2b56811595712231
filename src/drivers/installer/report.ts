import { type Static, Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { InstallerError } from './failure.ts';
import { type Inventory, readInventory } from './inventory.ts';

const Seconds = Type.Integer({ minimum: 0, maximum: 10_000_000 });
const Bytes = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });
const Line = Type.String({ maxLength: 500 });

/** Some thousand characters are usual. */
const longestDrive = 65_536;

/** What was tried with a disk: how the program ended, and the last of what it said. */
const Tried = Type.Object({ method: Line, exit: Type.Integer(), log: Type.String({ maxLength: 4_000 }) });

const RawWiped = Type.Object({
  kind: Type.Literal('wiped'),
  serial: Line,
  bytes: Bytes,
  method: Line,
  marks: Bytes,
  marks_left: Bytes,
  not_zero: Bytes,
  seconds: Seconds,
  tried: Type.Array(Tried, { maxItems: 20 }),
  drive: Type.Record(Type.String(), Type.Unknown()),
});

const Raw = Type.Union([
  Type.Object({ kind: Type.Literal('step'), step: Line, seconds: Seconds }),
  Type.Object({ kind: Type.Literal('progress'), bytes: Bytes }),
  Type.Object({
    kind: Type.Literal('bmc'),
    address: Type.Union([Type.String({ maxLength: 45 }), Type.Null()]),
    problem: Type.Union([Line, Type.Null()]),
  }),
  Type.Object({ kind: Type.Literal('failed'), reason: Line }),
  Type.Object({ kind: Type.Literal('done') }),
  RawWiped,
]);

/** How a disk was wiped. */
export interface Wiped {
  serial: string;
  bytes: number;
  /** Null: it could not be, and holds what it held. */
  method: WipeMethod | null;
  /** Places all over the disk that were marked before, and how many of them could still be read. */
  marks: number;
  marksLeft: number;
  /** How many of these places hold anything but zeros: all of them may where the drive threw its key away. */
  notZero: number;
  seconds: number;
  tried: Static<typeof Tried>[];
  /** The drive's own record, as `smartctl -j` prints it; empty where that is longer than any drive's. */
  drive: Record<string, unknown>;
}

/** What counts as erasure. A plain `format` and a discard do not. */
export const wipeMethods = [
  'sanitize-block',
  'sanitize-crypto',
  'format-crypto',
  'format-user-data',
  'sanitize-overwrite',
  'ata-enhanced',
  'ata',
  'overwrite',
] as const;
export type WipeMethod = (typeof wipeMethods)[number];

/** What a server tells while its installer works. */
export type Report =
  | { kind: 'inventory'; inventory: Inventory }
  | { kind: 'step'; step: string; seconds: number }
  /** Of the image: how much of it has come. */
  | { kind: 'progress'; bytes: number }
  /** Its BMC took the password, and answers at this address; or why it did not. */
  | { kind: 'bmc'; address: string | null; problem: string | null }
  | { kind: 'wiped'; wiped: Wiped }
  | { kind: 'failed'; reason: string }
  | { kind: 'done' };

const compiled = Compile(Raw);

/** What a report says; `report_invalid` for anything that is none. */
export function readReport(raw: unknown): Report {
  if (typeof raw === 'object' && raw !== null && 'kind' in raw && raw.kind === 'inventory')
    return { kind: 'inventory', inventory: readInventory(raw) };
  if (!compiled.Check(raw))
    throw new InstallerError('report_invalid', 'what a server reports has another form');
  if (raw.kind === 'wiped') return { kind: 'wiped', wiped: wipedOf(raw) };
  if (raw.kind === 'step') return { ...raw, step: readable(raw.step) };
  if (raw.kind === 'failed') return { ...raw, reason: readable(raw.reason) };
  return raw.kind === 'bmc' ? { ...raw, problem: raw.problem && readable(raw.problem) } : raw;
}

/** Words that programs printed, as a person can read them and the database can keep them. */
function readable(text: string): string {
  return text.replace(/\p{Cc}+/gu, ' ').toWellFormed();
}

/** No longer than any drive's, and nothing in it that the database does not hold. */
function isKept(drive: Record<string, unknown>): boolean {
  const text = JSON.stringify(drive);
  return text.length <= longestDrive && !text.includes('\\u0000') && !/\\ud[89a-f]/i.test(text);
}

/**
 * What the marks say decides, whatever the installer makes of it: a disk on which one is left, or on which none was, is not wiped, and
 * neither is an overwritten one that holds anything but zeros.
 */
function wipedOf(raw: Static<typeof RawWiped>): Wiped {
  const { serial, bytes, marks, seconds, tried, drive } = raw;
  const said = wipeMethods.find((method) => method === raw.method) ?? null;
  const isGone = marks > 0 && raw.marks_left === 0 && (said?.endsWith('-crypto') || raw.not_zero === 0);
  const method = isGone ? said : null;
  return {
    serial,
    bytes,
    method,
    marks,
    marksLeft: raw.marks_left,
    notZero: raw.not_zero,
    seconds,
    tried: tried.map(({ method, exit, log }) => ({
      ...{ method: readable(method), exit },
      log: log.replace(/[^\P{Cc}\n\t]/gu, ' ').toWellFormed(),
    })),
    drive: isKept(drive) ? drive : {},
  };
}
