import type en from '../text/en.json';
import { isText, useText } from '../text/index.ts';

type Known = keyof (typeof en)['preset'];
type Part = 'title' | 'text' | 'ips';

/** The name of the text for a part of a preset: texts have no dashes in their names. */
const keyOf = (name: string, part: Part) => `preset.${name.replaceAll('-', '_')}_${part}`;

/** What a preset is called, in the language of whoever looks; `title` is what the API calls it. */
export function usePresetName(): (name: string, title?: string) => string {
  const say = useSayPreset();
  return (name, title = name) => say(name, 'title', title);
}

/** The same of each of its parts; as the API says it where there are no words for it. Profiles of games say what they have in common. */
export function useSayPreset(): (name: string, part: Part, otherwise: string) => string {
  const { t } = useText();
  return (name, part, otherwise) => {
    const key = [keyOf(name, part), ...(name.startsWith('game-') ? [`preset.game_${part}`] : [])].find(
      isText,
    );
    return key === undefined ? otherwise : t(`preset.${key.slice('preset.'.length) as Known}`);
  };
}
