import { Type } from 'typebox';
import { Choice, named, Strict } from '../../platform/http/index.ts';
import { taskNames } from '../byHand/table.ts';

const Reason = Type.String({ minLength: 1, maxLength: 200, description: 'Shown to the customer' });

export const Suspension = named('Suspension', Strict({ reason: Reason }));
export const Termination = named('Termination', Strict({ reason: Reason }));
export const ByHand = named(
  'DoneByHand',
  Strict({ task: Choice(taskNames, { description: 'What the service waited for' }) }),
);
