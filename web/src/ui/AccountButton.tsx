import { Text, UnstyledButton } from '@mantine/core';
import type { Session } from '../data/queries/index.ts';
import { type Language, useText } from '../text/index.ts';
import { Refusal } from './Refusal.tsx';
import type { Place } from './Shell.tsx';
import { useWanted } from './useWanted.ts';

// What opens beside a button has to find its place, which is a fifth of all that a first page would have to load.
const load = () => import('./AccountMenu.tsx');

export interface AccountButtonProps {
  user: Session['user'];
  /** The other house that this person may go to. */
  elsewhere?: Place | undefined;
  onLanguage: (language: Language) => void;
  onSignOut: () => void;
}

/** Whose pages these are; opens what is theirs alone, which is loaded when somebody is about to. */
export function AccountButton(props: AccountButtonProps) {
  const { t } = useText();
  const { part, error, want } = useWanted(load);
  if (part !== null) return <part.AccountMenu {...props} />;
  return (
    <div className="account">
      <UnstyledButton
        p="xs"
        title={t('app.account')}
        aria-haspopup="menu"
        onPointerEnter={() => void load().catch(() => undefined)}
        onFocus={() => void load().catch(() => undefined)}
        onClick={want}
      >
        <Whose user={props.user} />
      </UnstyledButton>
      {error !== null && (
        <div className="below-account">
          <Refusal error={error} onRetry={want} />
        </div>
      )}
    </div>
  );
}

export function Whose({ user: { first_name, last_name } }: Pick<AccountButtonProps, 'user'>) {
  const names = [first_name, last_name];
  return (
    <>
      <Text size="sm" className="who caller">
        {names.join(' ')}
      </Text>
      {/* On a phone there is room for no more. */}
      <Text size="sm" fw={600} hiddenFrom="sm" aria-hidden>
        {names.map((each) => [...each][0]?.toUpperCase()).join('')}
      </Text>
    </>
  );
}
