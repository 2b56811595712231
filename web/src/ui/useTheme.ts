import { useMantineColorScheme } from '@mantine/core';
import { useEffect } from 'react';

/** Shows the pages in the theme that somebody's account asks for; in that of the device while nobody has said. */
export function useTheme(wanted: 'system' | 'light' | 'dark' | undefined): void {
  const { setColorScheme } = useMantineColorScheme();
  useEffect(() => {
    setColorScheme(wanted === undefined || wanted === 'system' ? 'auto' : wanted);
  }, [wanted, setColorScheme]);
}
