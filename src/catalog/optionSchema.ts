import { Type } from 'typebox';
import { Choice, named, shownAs } from '../platform/http/index.ts';

/** What the options of servers mean, by the names of the wire (contract §2). */
export const optionMeanings = {
  option1: 'Memory in GB',
  option2: 'Storage in GB',
  option3: 'CPU cores',
  option4: 'How many IPv4 addresses',
  option5: 'How many IPv6 addresses',
  option6: 'Operating system: the slug of an image, such as `debian`',
  option7: 'Port speed, such as `1gbit`',
  option8: 'Location, such as `AMS`',
} as const;

const { option1, option2, option3, option4, option5, option6, option7, option8 } = optionMeanings;

export const OptionKey = named(
  'OptionKey',
  Choice(['option1', 'option2', 'option3', 'option4', 'option5', 'option6', 'option7', 'option8']),
  Object.entries(optionMeanings)
    .map(([key, meaning]) => `\`${key}\`: ${meaning}`)
    .join('; '),
);

const count = (description: string) => Type.Optional(Type.Integer({ description }));
const text = (description: string) => Type.Optional(Type.String({ description }));

/** What was chosen about a product; a product may have options that no server has. */
export const ChosenOptions = shownAs(
  named(
    'ChosenOptions',
    Type.Object(
      {
        option1: count(option1),
        option2: count(option2),
        option3: count(option3),
        option4: count(option4),
        option5: count(option5),
        option6: text(option6),
        option7: text(option7),
        option8: text(option8),
      },
      { additionalProperties: true },
    ),
    'What was chosen about a product',
  ),
  Type.Record(Type.String(), Type.Unknown()),
);
