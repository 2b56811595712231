import { useQuery } from '@tanstack/react-query';
import { useNavigate, useRouter } from '@tanstack/react-router';
import { type KeyboardEvent, useId, useState } from 'react';
import { type Find, finds } from '../data/queries/index.ts';
import { useText } from '../text/index.ts';
import { Dialog, type Place, Refusal, Text, TextInput, useDebouncedValue } from '../ui/index.ts';
import { Doing } from './Doing.tsx';
import { type Command, commands, wishIn } from './wish.ts';

/** Where the page of each kind of thing is, on either side. */
const pages: Record<'mine' | 'staff', Partial<Record<Find['kind'], string>>> = {
  mine: {
    service: '/services/$id',
    invoice: '/invoices/$id',
    ticket: '/tickets/$tid',
    member: '/organization/members',
    address: '/shield/addresses/$ip',
    shield_rule: '/shield/rules/$id',
  },
  staff: {
    organization: '/staff/organizations/$id',
    user: '/staff/users/$id',
    service: '/staff/services/$id',
    invoice: '/staff/invoices/$id',
    ticket: '/staff/tickets/$tid',
    node: '/staff/nodes/$id',
  },
};

interface Choice {
  key: string;
  label: string;
  detail: string | null;
  take: () => void;
}

interface PaletteProps {
  places: readonly Place[];
  isStaff: boolean;
  onClose: () => void;
}

/** Go, find, do: one line for all of it. */
export function Palette({ places, isStaff, onClose }: PaletteProps) {
  const { t } = useText();
  const id = useId();
  const navigate = useNavigate();
  const { routesByPath } = useRouter();
  const [typed, setTyped] = useState('');
  const [at, setAt] = useState(0);
  const [doing, setDoing] = useState<{ command: Command; service: Find } | null>(null);
  const { command, words } = isStaff
    ? { command: null, words: typed.trim() }
    : wishIn(typed, (each) => t(`command.${each}`));
  // Just longer than keys that are pressed together: whoever waits, waits for this as well.
  const [asked] = useDebouncedValue(words, 25);
  const search = useQuery(finds(asked, isStaff));

  const go = (href: string) => {
    onClose();
    void navigate({ href });
  };
  const goTo = places
    .filter(({ label }) => command === null && label.toLowerCase().includes(words.toLowerCase()))
    .map(({ to, label }): Choice => ({ key: to, label, detail: t('palette.page'), take: () => go(to) }));
  const found = words === '' ? [] : (search.data ?? []);
  const toDo = command === null ? [] : found.filter(({ kind }) => kind === 'service');
  const toSee = found.flatMap((each): Choice[] => {
    const path = pages[isStaff ? 'staff' : 'mine'][each.kind];
    // What has no page yet is no choice either.
    if (path === undefined || !(path in routesByPath)) return [];
    const detail = [t(`found.${each.kind}`), each.detail].filter(Boolean).join(' · ');
    const href = path.replace(/\$\w+$/, encodeURIComponent(each.id));
    return [{ key: `${each.kind} ${each.id}`, label: each.title, detail, take: () => go(href) }];
  });
  const choices: Choice[] = [
    ...toDo.flatMap((service) =>
      command === null
        ? []
        : [
            {
              key: `${command} ${service.id}`,
              label: `${t(`command.${command}`)} ${service.title}`,
              detail: service.detail,
              take: () => setDoing({ command, service }),
            },
          ],
    ),
    ...goTo,
    ...toSee,
  ];
  const chosen = Math.min(at, choices.length - 1);

  const press = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined && choices.length > 0) {
      event.preventDefault();
      setAt((chosen + step + choices.length) % choices.length);
    }
    if (event.key === 'Enter') {
      event.preventDefault();
      choices[chosen]?.take();
    }
  };

  return (
    <Dialog title={t('palette.title')} isOpen onClose={onClose}>
      {doing === null ? (
        <>
          <TextInput
            role="combobox"
            aria-label={t('palette.title')}
            aria-expanded={choices.length > 0}
            aria-controls={id}
            aria-activedescendant={choices.length > 0 ? `${id}-${chosen}` : undefined}
            aria-autocomplete="list"
            autoComplete="off"
            data-autofocus
            value={typed}
            placeholder={t('palette.help', { command: t(`command.${commands[2]}`) })}
            onChange={({ currentTarget: { value } }) => {
              setTyped(value);
              setAt(0);
            }}
            onKeyDown={press}
          />
          <Refusal error={search.error} onRetry={() => void search.refetch()} />
          <div role="listbox" id={id} aria-label={t('palette.title')} className="palette">
            {choices.map(({ key, label, detail, take }, nth) => (
              // The keyboard stays in the line above, as in every such list.
              <div
                key={key}
                id={`${id}-${nth}`}
                role="option"
                tabIndex={-1}
                aria-selected={nth === chosen}
                onPointerMove={() => setAt(nth)}
                onClick={take}
                onKeyDown={press}
              >
                <span>{label}</span>
                {detail !== null && <small>{detail}</small>}
              </div>
            ))}
          </div>
          {choices.length === 0 && words !== '' && !search.isFetching && asked === words && (
            <Text role="status" c="dimmed" mt="sm">
              {t('palette.nothing')}
            </Text>
          )}
        </>
      ) : (
        <Doing {...doing} onDone={() => go(`/services/${doing.service.id}`)} />
      )}
    </Dialog>
  );
}
