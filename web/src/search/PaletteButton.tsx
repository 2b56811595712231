import { lazy, Suspense, useEffect, useState } from 'react';
import { useText } from '../text/index.ts';
import { Button, type Place } from '../ui/index.ts';

const Palette = lazy(() =>
  import('./Palette.tsx').then(({ Palette: component }) => ({ default: component })),
);

interface PaletteButtonProps {
  places: readonly Place[];
  isStaff: boolean;
}

/** Opens what goes, finds and does: by a press, or by Ctrl K from anywhere. */
export function PaletteButton({ places, isStaff }: PaletteButtonProps) {
  const { t } = useText();
  const [isOpen, setOpen] = useState(false);
  useEffect(() => {
    const look = (event: KeyboardEvent) => {
      if (!(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey) return;
      if (event.key.toLowerCase() !== 'k') return;
      event.preventDefault();
      setOpen(true);
    };
    window.addEventListener('keydown', look);
    return () => window.removeEventListener('keydown', look);
  }, []);
  return (
    <>
      <Button variant="default" size="xs" aria-keyshortcuts="Control+K" onClick={() => setOpen(true)}>
        {t('palette.open')}
      </Button>
      {isOpen && (
        <Suspense>
          <Palette places={places} isStaff={isStaff} onClose={() => setOpen(false)} />
        </Suspense>
      )}
    </>
  );
}
