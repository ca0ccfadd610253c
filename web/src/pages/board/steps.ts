const ARROWS: Record<string, [columns: number, rows: number]> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
};

/** The card that an arrow leads to. To the side it is the one at the same height, in the next column that has any. */
export function nextCard(grid: readonly (readonly number[])[], from: number, key: string): number | undefined {
  const step = ARROWS[key];
  const column = grid.findIndex((ids) => ids.includes(from));
  if (!step || column < 0) return undefined;
  const row = grid[column]!.indexOf(from);
  const [aside, along] = step;
  if (along) return grid[column]![row + along];
  for (let at = column + aside; at >= 0 && at < grid.length; at += aside) {
    const ids = grid[at]!;
    if (ids.length) return ids[Math.min(row, ids.length - 1)];
  }
  return undefined;
}
