import type { Translation } from '../../platform/index.ts';
import type { en } from './en.ts';

export const de: Translation<typeof en> = {
  attack: {
    subject: 'Angriff auf {{address}}: {{what}}',
    what: 'Seit {{since}} wird an {{address}} mehr gesendet, als dort für üblich gilt. Es sieht so aus: {{what}}.',
    rate: 'Bisher sind es {{pps}} Pakete und {{mbps}} Megabit in der Sekunde.',
    next: 'Mit Regeln von Shield für diese Adresse lässt es sich verwerfen. Wir schreiben wieder, wenn es vorbei ist.',
  },
  over: {
    subject: 'Der Angriff auf {{address}} ist vorbei',
    what: 'Von {{since}} bis {{until}} gab es einen Angriff auf {{address}}: {{what}}.',
    rate: 'Es waren höchstens {{pps}} Pakete und {{mbps}} Megabit in der Sekunde, insgesamt {{volume}} Megabyte.',
  },
};
