'use strict';
// Boards: rectangles of few symbols, as lists of lists or of strings. A random change would make them invalid.

const MAX_SYMBOLS = 6;
const MIN_CELLS = 4;
const MAX_CELLS_CHANGED = 8;

/**
 * `{ rows, symbols, join }` if the array is a board, else null. `others`: scalars from elsewhere, for boards with one
 * symbol.
 */
function boardOf(array, others) {
  const [first] = array;
  const texts = typeof first === 'string';
  if (array.length < 1 || !(texts || Array.isArray(first)) || first.length < 2) return null;
  if (
    !array.every(
      (row) => (texts ? typeof row === 'string' : Array.isArray(row)) && row.length === first.length,
    )
  )
    return null;
  const rows = array.map((row) => [...row]);
  const cells = rows.flat();
  const known = [...new Set(cells)];
  if (cells.length < MIN_CELLS || known.length > MAX_SYMBOLS || known.length * 2 > cells.length) return null;
  if (known.some((cell) => cell !== null && typeof cell === 'object')) return null;
  return {
    rows,
    symbols: known.length > 1 ? known : [...known, ...alike(known[0], others)],
    join: texts ? (row) => row.join('') : (row) => row,
  };
}

function alike(symbol, others) {
  const same = others.filter((other) => typeof other === typeof symbol && other !== symbol);
  if (typeof symbol !== 'string') return same.slice(0, 1);
  return [...new Set(same.flatMap((other) => [...other]))].filter((each) => each !== symbol).slice(0, 3);
}

/** Similar boards: with a cell changed, and with rows or columns removed, duplicated or swapped. `pick(n, nth)` chooses. */
function boardsLike({ rows, symbols, join }, pick) {
  const found = [];
  const add = (changed, how) => found.push({ value: changed.map(join), how, light: true });
  const width = rows[0].length;
  for (let nth = 0; nth < MAX_CELLS_CHANGED && symbols.length > 1; nth += 1) {
    const [y, x] = [pick(rows.length, nth), pick(width, nth + 100)];
    const others = symbols.filter((symbol) => symbol !== rows[y][x]);
    const symbol = others[pick(others.length, nth + 200)];
    add(
      rows.map((row, at) => (at === y ? Object.assign([...row], { [x]: symbol }) : row)),
      'another cell',
    );
  }
  if (rows.length > 1) {
    const y = pick(rows.length, 300);
    add(
      rows.filter((_, at) => at !== y),
      'a row less',
    );
    add([rows[1], rows[0], ...rows.slice(2)], 'two rows swapped');
    add([...rows].reverse(), 'upside down');
  }
  const x = pick(width, 400);
  if (width > 2)
    add(
      rows.map((row) => row.filter((_, at) => at !== x)),
      'a column less',
    );
  add([...rows, rows[pick(rows.length, 500)]], 'a row more');
  add(
    rows.map((row) => [...row, row[x]]),
    'a column more',
  );
  add(
    rows.map((row) => [...row].reverse()),
    'mirrored',
  );
  return found;
}

module.exports = { boardOf, boardsLike };
