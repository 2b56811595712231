import type en from '../text/en.json';
import { isText, useText } from '../text/index.ts';

type Named = keyof (typeof en)['command'];

/** What a command of a machine is called; one that pages do not know yet keeps the name that the API gives it. */
export function useCommandName(): (command: string) => string {
  const { t } = useText();
  return (command) =>
    isText(`command.${command}`) ? t(`command.${command as Named}`) : command.replaceAll('_', ' ');
}
