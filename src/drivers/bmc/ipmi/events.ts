import type { BmcEvent } from '../contract.ts';
import { type Ipmi, withCommas } from './program.ts';

const most = 200;

export async function readEvents(ipmi: Ipmi, leftMs: number): Promise<BmcEvent[]> {
  const table = await ipmi.runQuietly([withCommas, 'sel', 'elist', 'last', String(most)], leftMs);
  return table.split('\n').flatMap((line) => {
    const [id, day, time, subject = '', ...what] = line.split(',').map((field) => field.trim());
    if (id === undefined || !/^[0-9a-f]+$/.test(id) || day === undefined || time === undefined) return [];
    const message = what.filter(Boolean).join(', ') || 'an event that it does not name';
    return { id, at: timeOf(day, time), subject, message };
  });
}

/** Its clock is taken for UTC: nobody says what it is set by. Null before it was set. */
function timeOf(day: string, time: string): Date | null {
  const [, month, date, year] = /^(\d\d)\/(\d\d)\/(\d{4})$/.exec(day) ?? [];
  const [, hour, minute, second] = /^(\d\d):(\d\d):(\d\d)/.exec(time) ?? [];
  if (month === undefined || hour === undefined) return null;
  const at = new Date(`${year}-${month}-${date}T${hour}:${minute}:${second}Z`);
  return Number.isNaN(at.getTime()) ? null : at;
}
