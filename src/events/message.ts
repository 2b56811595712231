import { type TObject, Type } from 'typebox';
import { type Described, Id, named, Timestamp } from '../platform/http/index.ts';
import { eventOf, sentenceOf, type Told, type ToldEvent, toldEvents, toldOf } from './event.ts';
import type { JournalEntry } from './readJournal.ts';

/** What a customer is told of an entry of the journal, by a stream or a webhook. */
export interface Message {
  /** The event's name. */
  type: string;
  timestamp: Date;
  data: Record<string, unknown>;
}

/** What may be told of an entry, and who may be told; null for what stays within the house. */
export function messageOf(entry: JournalEntry): { told: Told; message: Message } | null {
  const told = eventOf(entry.event)?.told ?? null;
  if (told === null) return null;
  const { event: type, createdAt: timestamp, organizationId: organization_id, subject } = entry;
  const data = { organization_id, subject, ...toldOf(type, entry.data) };
  return { told, message: { type, timestamp, data } };
}

const Subject = named(
  'EventSubject',
  Type.Object({ type: Type.String({ examples: ['invoice'] }), id: Id }),
  'What it happened to',
);

/** The shape of what is told of an event: the body of its webhooks. */
export function messageSchema({ name, told }: ToldEvent): TObject {
  const data = Type.Object({ organization_id: Id, subject: Subject, ...told.data });
  const type = Type.Unsafe<string>({ type: 'string', enum: [name] });
  return named(schemaName(name), Type.Object({ type, timestamp: Timestamp, data }), sentenceOf(name));
}

/** `invoice.paid` is `InvoicePaidEvent` in generated clients. */
function schemaName(name: string): string {
  const words = name.split(/[._]/).map((word) => word.charAt(0).toUpperCase() + word.slice(1));
  return `${words.join('')}Event`;
}

/** The section `webhooks` of the description: each event that customers are told of, with its body. */
export function describeMessages(): Described[] {
  return toldEvents().map((event) => ({
    name: event.name,
    summary: sentenceOf(event.name),
    description: `Told to those who hold \`${event.told.permission}\`.`,
    body: messageSchema(event),
  }));
}
