import en from '../text/en.json';
import { useText } from '../text/index.ts';

type Named = keyof (typeof en)['command'];

/** What a command of a machine is called; one that pages do not know yet keeps the name that the API gives it. */
export function useCommandName(): (command: string) => string {
  const { t } = useText();
  return (command) =>
    command in en.command ? t(`command.${command as Named}`) : command.replaceAll('_', ' ');
}
