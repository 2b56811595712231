import '@mantine/core/styles.css';
import './ui/ui.css';
import './ui/staff.css';
import './text/index.ts';
import { MantineProvider } from '@mantine/core';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { queryClient } from './data/queries/index.ts';
import { followOtherTabs } from './data/signedIn.ts';
import { router } from './routes.tsx';
import { nonce } from './ui/nonce.ts';
import { theme, variables } from './ui/theme.ts';

followOtherTabs();
const place = document.getElementById('root');
if (place === null) throw new Error('The page has no place for the application');
createRoot(place).render(
  <StrictMode>
    <MantineProvider
      theme={theme}
      cssVariablesResolver={variables}
      defaultColorScheme="auto"
      getStyleNonce={() => nonce}
    >
      <QueryClientProvider client={queryClient}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </MantineProvider>
  </StrictMode>,
);
