import { Anchor, Burger, Group, NativeSelect } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { Link } from '@tanstack/react-router';
import { Fragment, type ReactNode } from 'react';
import type { Session } from '../data/queries/index.ts';
import { useIsLive } from '../data/stream.ts';
import { type Language, useText } from '../text/index.ts';
import { AccountButton } from './AccountButton.tsx';
import { BrandLinks } from './BrandLinks.tsx';
import { Logo } from './Logo.tsx';
import { LateRefusals } from './Refusals.tsx';
import { ShowsCode } from './ShowsCode.tsx';

export interface Place {
  to: string;
  label: string;
  /** Begins a group of places under this heading. */
  group?: string | undefined;
}

interface ShellProps {
  session: Session;
  places: readonly Place[];
  /** At the top, beside whose pages these are. */
  search: ReactNode;
  /** The other house that this person may go to. */
  elsewhere?: Place | undefined;
  onOrganization: (id: number) => void;
  onLanguage: (language: Language) => void;
  onSignOut: () => void;
  children: ReactNode;
}

/** What stands around every page of whoever is signed in. */
export function Shell({
  session,
  places,
  elsewhere,
  search,
  onOrganization,
  onLanguage,
  onSignOut,
  children,
}: ShellProps) {
  const { t } = useText();
  const [isOpen, menu] = useDisclosure(false);
  const isLive = useIsLive();
  const { organizations, organization } = session;
  return (
    // Plain elements and not the library's own frame, which is a tenth of all that a first page would have to run.
    <div className="shell">
      <a className="skip" href="#content">
        {t('app.skip')}
      </a>
      <header className="shell-head">
        <Group h="100%" px="md" justify="space-between" wrap="nowrap">
          <Group gap="sm" wrap="nowrap" miw={0} style={{ flex: '0 1 auto' }}>
            <Burger
              opened={isOpen}
              onClick={menu.toggle}
              hiddenFrom="sm"
              size="sm"
              aria-label={t('app.menu')}
            />
            <Anchor component={Link} to={places[0]?.to ?? '/'} underline="never" c="inherit" fw={700} miw={0}>
              <Logo />
            </Anchor>
          </Group>
          <Group gap="xs" wrap="nowrap" style={{ flexShrink: 0 }}>
            {search}
            <AccountButton
              user={session.user}
              elsewhere={elsewhere}
              onLanguage={onLanguage}
              onSignOut={onSignOut}
            />
          </Group>
        </Group>
      </header>
      <nav className="shell-places" aria-label={t('app.menu')} data-open={isOpen || undefined}>
        {organizations.length > 1 && (
          <NativeSelect
            mb="sm"
            label={t('app.organization')}
            value={String(organization?.id)}
            onChange={(event) => onOrganization(Number(event.currentTarget.value))}
            data={organizations.map(({ id, name }) => ({ value: String(id), label: name }))}
          />
        )}
        {places.map(({ to, label, group }) => {
          const exact = to === '/' || to === '/staff';
          return (
            <Fragment key={to}>
              {group !== undefined && <div className="nav-group">{group}</div>}
              <Link
                to={to}
                className="nav-link"
                activeOptions={{ exact, includeSearch: false }}
                onClick={menu.close}
              >
                {label}
              </Link>
            </Fragment>
          );
        })}
        <BrandLinks />
      </nav>
      <main className="shell-main" id="content" tabIndex={-1}>
        {!isLive && (
          <p className="shell-status" role="status">
            {t('app.offline')}
          </p>
        )}
        <LateRefusals />
        <ShowsCode value>{children}</ShowsCode>
      </main>
    </div>
  );
}
