import { MantineProvider } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useEffect, useMemo } from 'react';
import { brand, useBrand } from '../data/brand.ts';
import { offer } from '../text/index.ts';
import { nonce } from './nonce.ts';
import { themeOf, variablesOf } from './theme.ts';

interface BrandedProps {
  /** Where no browser knows it. */
  scheme?: 'light' | 'dark';
  children: ReactNode;
}

/** Everything below looks as the provider wants it. */
export function Branded({ scheme, children }: BrandedProps) {
  const { isPending } = useQuery(brand);
  const { accent_on_light, accent_on_dark, font, radius, favicon, variables: set, languages } = useBrand();
  const [theme, variables] = useMemo(() => {
    const look = { accent_on_light, accent_on_dark, font, radius };
    return [themeOf(look), variablesOf(look, set)] as const;
  }, [accent_on_light, accent_on_dark, font, radius, set]);
  useEffect(() => offer(languages), [languages]);
  useEffect(() => {
    if (favicon === null) return;
    const icon = document.querySelector<HTMLLinkElement>('link[rel=icon]');
    icon?.setAttribute('href', favicon);
    icon?.removeAttribute('type');
  }, [favicon]);
  // Nothing is painted in colours that are not theirs.
  if (isPending) return null;
  return (
    <MantineProvider
      theme={theme}
      cssVariablesResolver={variables}
      defaultColorScheme="auto"
      {...(scheme && { forceColorScheme: scheme })}
      getStyleNonce={() => nonce}
    >
      {children}
    </MantineProvider>
  );
}
