import { type MailDeclaration, mail } from '../events/index.ts';
import { momentFor } from '../platform/index.ts';
import { moveEnded, movePlanned, vpsRecovered } from './events.ts';
import { say } from './texts/index.ts';

const recovered = mail(
  vpsRecovered,
  ({ data: { hostname: name, backup_at } }, reader) => {
    const at = momentFor(reader, backup_at);
    return {
      subject: say(reader, 'recovered.subject', { name, at }),
      blocks: [
        say(reader, 'recovered.what', { name, at }),
        say(reader, 'recovered.lost'),
        say(reader, 'recovered.same'),
      ],
    };
  },
  {
    leadsTo: ({ subject: { id }, data: { hostname: name } }, reader) => ({
      button: say(reader, 'recovered.look', { name }),
      page: `/services/${id}`,
    }),
  },
);

const movePlannedMail = mail(
  movePlanned,
  ({ data }, reader) => {
    const { hostname: name, begins_at: at, is_off: isOff, lost_snapshots, lost_backups } = data;
    const lost = { snapshots: String(lost_snapshots), backups: String(lost_backups) };
    const when = at === null ? 'soon' : 'from';
    return {
      subject: say(reader, isOff ? 'movePlanned.subjectOff' : 'movePlanned.subject', { name }),
      blocks: [
        say(reader, isOff ? `movePlanned.${when}Off` : `movePlanned.${when}`, {
          ...{ name, at: at === null ? '' : momentFor(reader, at) },
        }),
        ...(lost_snapshots + lost_backups > 0 ? [say(reader, 'movePlanned.lost', { name, ...lost })] : []),
        say(reader, lost_backups > 0 ? 'movePlanned.how' : 'movePlanned.howKept'),
        ...(isOff ? [] : [say(reader, 'movePlanned.long')]),
      ],
    };
  },
  { leadsTo: ({ subject: { id }, data: { hostname: name } }, reader) => lookAt(reader, id, name) },
);

const moveEndedMail = mail(
  moveEnded,
  ({ data }, reader) => {
    const { hostname: name, moved, off_at: offAt, away_s: awayS, is_late: isLate } = data;
    const off =
      offAt === null
        ? say(reader, 'moveEnded.ranOn')
        : awayS === null
          ? say(reader, 'moveEnded.off', { at: momentFor(reader, offAt) })
          : say(reader, 'moveEnded.away', { at: momentFor(reader, offAt), seconds: String(awayS) });
    return {
      subject: say(reader, moved ? 'moveEnded.moved' : 'moveEnded.stays', { name }),
      blocks: [
        say(reader, moved ? 'moveEnded.same' : 'moveEnded.nothing', { name }),
        off,
        ...(isLate ? [say(reader, 'moveEnded.late')] : []),
      ],
    };
  },
  { leadsTo: ({ subject: { id }, data: { hostname: name } }, reader) => lookAt(reader, id, name) },
);

function lookAt(reader: Parameters<typeof say>[0], id: number, name: string) {
  return { button: say(reader, 'recovered.look', { name }), page: `/services/${id}` };
}

/** What customers are told of their machines. */
export const vpsMails: MailDeclaration[] = [recovered, movePlannedMail, moveEndedMail];
