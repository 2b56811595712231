const remembered = 'innkeeper.columns';

type Away = Readonly<Record<string, readonly string[]>>;

/** The columns of a list that somebody has put away in this browser, by the names of their fields. */
export function columnsAway(list: string): readonly string[] {
  return allAway()[list] ?? [];
}

export function putAway(list: string, names: readonly string[]): void {
  const { [list]: _, ...others } = allAway();
  localStorage.setItem(
    remembered,
    JSON.stringify(names.length === 0 ? others : { ...others, [list]: names }),
  );
}

/** What somebody else wrote there under our name counts for nothing. */
function allAway(): Away {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(remembered) ?? '{}');
    if (typeof kept !== 'object' || kept === null) return {};
    return Object.fromEntries(
      Object.entries(kept).filter((each): each is [string, string[]] => Array.isArray(each[1])),
    );
  } catch {
    return {};
  }
}
