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
  ({ data: { hostname: name, begins_at: at } }, reader) => ({
    subject: say(reader, 'movePlanned.subject', { name }),
    blocks: [
      at === null
        ? say(reader, 'movePlanned.soon', { name })
        : say(reader, 'movePlanned.from', { name, at: momentFor(reader, at) }),
      say(reader, 'movePlanned.how'),
    ],
  }),
  { leadsTo: ({ subject: { id }, data: { hostname: name } }, reader) => lookAt(reader, id, name) },
);

const moveEndedMail = mail(
  moveEnded,
  ({ data }, reader) => {
    const { hostname: name, moved, off_at: offAt, away_s: awayS } = data;
    const off =
      offAt === null
        ? say(reader, 'moveEnded.ranOn')
        : awayS === null
          ? say(reader, 'moveEnded.off', { at: momentFor(reader, offAt) })
          : say(reader, 'moveEnded.away', { at: momentFor(reader, offAt), seconds: String(awayS) });
    return {
      subject: say(reader, moved ? 'moveEnded.moved' : 'moveEnded.stays', { name }),
      blocks: [say(reader, moved ? 'moveEnded.same' : 'moveEnded.nothing', { name }), off],
    };
  },
  { leadsTo: ({ subject: { id }, data: { hostname: name } }, reader) => lookAt(reader, id, name) },
);

function lookAt(reader: Parameters<typeof say>[0], id: number, name: string) {
  return { button: say(reader, 'recovered.look', { name }), page: `/services/${id}` };
}

/** What customers are told of their machines. */
export const vpsMails: MailDeclaration[] = [recovered, movePlannedMail, moveEndedMail];
