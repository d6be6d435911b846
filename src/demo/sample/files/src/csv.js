/**
 * Splits CSV text into rows of cells. Blank lines are skipped; line ends may be LF or CRLF.
 * @param {string} text
 * @returns {string[][]}
 */
export function parseCsv(text) {
  return text
    .replace(/^\uFEFF/, '')
    .split(/\r?\n/)
    .filter((line) => line.trim() !== '')
    .map((line) => line.split(',').map(unquote));
}

/** Takes the quotes off a quoted cell. */
function unquote(cell) {
  const trimmed = cell.trim();
  return trimmed.startsWith('"') && trimmed.endsWith('"') && trimmed.length > 1
    ? trimmed.slice(1, -1)
    : trimmed;
}
