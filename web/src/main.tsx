import '@mantine/core/styles.css';
import './ui/ui.css';
import './ui/staff.css';
import './ui/machine.css';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { queryClient } from './data/queries/index.ts';
import { followOtherTabs } from './data/signedIn.ts';
import { router } from './routes.tsx';
import { openTexts } from './text/index.ts';
import { Branded } from './ui/Branded.tsx';

followOtherTabs();
await openTexts();
const place = document.getElementById('root');
if (place === null) throw new Error('The page has no place for the application');
createRoot(place).render(
  <StrictMode>
    <QueryClientProvider client={queryClient}>
      <Branded>
        <RouterProvider router={router} />
      </Branded>
    </QueryClientProvider>
  </StrictMode>,
);
