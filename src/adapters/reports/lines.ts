/** Characters of a line that are looked at. */
const LONGEST_LINE = 4_000;
const ESCAPE = String.fromCharCode(27);
const COLOURS = new RegExp(`${ESCAPE}\\[[0-9;]*m`, 'g');

/** The lines of a text, cut, without colours. */
export const linesOf = (text: string): readonly string[] =>
  text.split(/\r?\n/).map((line) => {
    const cut = line.length > LONGEST_LINE ? line.slice(0, LONGEST_LINE) : line;
    return cut.includes(ESCAPE) ? cut.replace(COLOURS, '') : cut;
  });
