import { Box, NativeSelect } from '@mantine/core';
import { Link, useNavigate, useRouterState } from '@tanstack/react-router';
import { useContext, useEffect } from 'react';
import { ShownSection } from './Page.tsx';

interface PageTabsProps {
  label: string;
  tabs: readonly { to: string; label: string }[];
}

/** So many find room beside each other on a phone; more become one choice there. */
const mostOnPhone = 5;

/** Pages that belong together, of which one is shown. */
export function PageTabs({ label, tabs }: PageTabsProps) {
  const where = useRouterState({ select: ({ location }) => location.pathname.replace(/\/$/, '') });
  const navigate = useNavigate();
  const isChoice = tabs.length > mostOnPhone;
  const shown = tabs.find(({ to }) => to === where);
  const tell = useContext(ShownSection);
  useEffect(() => tell(shown?.label ?? null), [tell, shown?.label]);
  return (
    <>
      <Box component="nav" className="tabs" aria-label={label} visibleFrom={isChoice ? 'sm' : undefined}>
        {tabs.map((tab) => (
          // The router says which of them is the page that is shown.
          <Link key={tab.to} to={tab.to} activeOptions={{ exact: true, includeSearch: false }}>
            {tab.label}
          </Link>
        ))}
      </Box>
      {isChoice && (
        <NativeSelect
          hiddenFrom="sm"
          aria-label={label}
          value={shown?.to}
          onChange={(event) => void navigate({ to: event.currentTarget.value })}
          data={tabs.map(({ to, label: name }) => ({ value: to, label: name }))}
        />
      )}
    </>
  );
}
