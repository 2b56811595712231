import type { Mitigation } from './defence.ts';
import { type MeasureName, usualAnswers } from './measures.ts';

const said: Readonly<Record<MeasureName, string>> = {
  drop_reflection: 'Drops what is reflected',
  drop_answers: 'Drops all answers',
  drop_fragments: 'Drops parts of packets',
  drop_malformed: 'Drops TCP that no honest sender makes',
  limit_sources: 'Holds each sender to a rate',
  synproxy: 'Answers for the machine until a connection is open',
  flowspec: 'Has the routers in front drop it',
  blackhole: 'Has the routers in front drop all packets to the address',
};

/** What a measure does, in a sentence: `Drops what is reflected from port 53, longer than usual answers`. */
export function describeMeasure({ measure, ports }: Pick<Mitigation, 'measure' | 'ports'>): string {
  if (measure !== 'drop_reflection' && measure !== 'drop_answers') return said[measure];
  const answering = ports.filter((port) => port in usualAnswers);
  const about = measure === 'drop_answers' ? answering : ports;
  const from = `${about.length === 1 ? 'port' : 'ports'} ${about.join(', ')}`;
  const spares = measure === 'drop_reflection' && answering.length > 0;
  return `${said[measure]} from ${from}${spares ? `; of ${answering.join(', ')} what is longer than usual answers` : ''}`;
}
