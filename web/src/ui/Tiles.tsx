import type { ReactNode } from 'react';
import { useMistake } from './Field.tsx';

export interface Tile {
  value: string;
  label: string;
  note?: ReactNode;
  /** Shown, and not to be had. */
  isOut?: boolean;
}

interface TilesProps {
  name: string;
  legend: string;
  tiles: readonly Tile[];
  value: string | undefined;
  onChoose: (value: string) => void;
}

/** One of a few things, all in view, each with what is to be known of it. */
export function Tiles({ name, legend, tiles, value, onChoose }: TilesProps) {
  const mistake = useMistake(name);
  return (
    <fieldset className="tiles">
      <legend>{legend}</legend>
      <div>
        {tiles.map((tile) => (
          <label key={tile.value}>
            <input
              type="radio"
              name={name}
              value={tile.value}
              checked={tile.value === value}
              disabled={tile.isOut}
              onChange={() => onChoose(tile.value)}
            />
            <span>
              <strong>{tile.label}</strong>
              {tile.note !== undefined && <small>{tile.note}</small>}
            </span>
          </label>
        ))}
      </div>
      {mistake !== undefined && <p role="alert">{mistake}</p>}
    </fieldset>
  );
}
