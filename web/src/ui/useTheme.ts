import { useMantineColorScheme } from '@mantine/core';
import { useEffect } from 'react';

/** Shows the pages in the theme that somebody's account asks for; in that of the device while nobody has said. */
export function useTheme(wanted: 'system' | 'light' | 'dark' | undefined): void {
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const next = wanted === undefined || wanted === 'system' ? 'auto' : wanted;
  useEffect(() => {
    // To set it has all that is on the page styled anew, twice, also where it is the same.
    if (next !== colorScheme) setColorScheme(next);
  }, [next, colorScheme, setColorScheme]);
}
