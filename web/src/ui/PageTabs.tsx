import { Link } from '@tanstack/react-router';

interface PageTabsProps {
  label: string;
  tabs: readonly { to: string; label: string }[];
}

/** Pages that belong together, of which one is shown. */
export function PageTabs({ label, tabs }: PageTabsProps) {
  return (
    <nav className="tabs" aria-label={label}>
      {tabs.map((tab) => (
        // The router says which of them is the page that is shown.
        <Link key={tab.to} to={tab.to} activeOptions={{ exact: true, includeSearch: false }}>
          {tab.label}
        </Link>
      ))}
    </nav>
  );
}
