/**
 * GitHub refuses a body over 65,536 characters. Counted here in UTF-16 units, which are never fewer than characters and
 * never over three bytes of UTF-8 each, so that a limit in bytes (262,144) holds too. The rest is a margin.
 */
export const BODY_LIMIT = 65_536;
export const BODY_ROOM = 65_000;

/** A Markdown table of ready cells. `align` has one mark for each column: `l` or `r`. */
export function tableRows(
  head: readonly string[],
  align: string,
  rows: readonly (readonly string[])[],
): string[] {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [line(head), line([...align].map((side) => (side === 'r' ? '--:' : '---'))), ...rows.map(line)];
}

export const table = (head: readonly string[], align: string, rows: readonly (readonly string[])[]): string =>
  tableRows(head, align, rows).join('\n');

/** `summary` is HTML. The empty lines let GitHub read the content as Markdown again. */
export const details = (summary: string, content: string): string =>
  `<details>\n<summary>${summary}</summary>\n\n${content}\n\n</details>`;

/**
 * As many whole blocks as fit into `room` UTF-16 units, in order; where some are left out, `more` says how many. Never
 * longer than `room`; empty when nothing fits.
 */
export function fill(
  blocks: readonly string[],
  room: number,
  options: { readonly separator: string; readonly more: (left: number) => string },
): string {
  const whole = blocks.join(options.separator);
  if (whole.length <= room) return whole;
  const mark = options.more(blocks.length);
  let kept = '';
  let count = 0;
  for (const block of blocks) {
    const grown = count === 0 ? block : `${kept}${options.separator}${block}`;
    if (grown.length + options.separator.length + mark.length > room) break;
    kept = grown;
    count += 1;
  }
  if (count === 0) return mark.length <= room ? mark : '';
  return `${kept}${options.separator}${options.more(blocks.length - count)}`;
}
