/** A point with its number; its groups are `not` and the description. */
export const NUMBERED_POINT = /^\s*(not )?ok +\d{1,7}(?: +(?:- )?(.*))?$/;
/** A point behind output in the same line; only read where points are missing. */
export const POINT_BEHIND_OUTPUT = /(?:not )?ok (\d{1,7})(?: .*)?$/;
/** A point without a number. */
export const BARE_POINT = /^\s*(not )?ok(?: +(?:- )?(.*))?$/;

/**
 * A description without its directive, its time, and the brace of a subtest that follows. Runners write a directive
 * between blanks; in `Iterator#skip` and `#todos` the hash is part of the name.
 */
export function parseDescription(text: string): { name: string; directive: boolean; braced: boolean } {
  const braced = text.endsWith(' {');
  const whole = braced ? text.slice(0, -2) : text;
  const at = whole.search(/(?:^|\s)#\s+(?:(?:skip(?:ped)?|todo)\b|time=)/i);
  const name = at < 0 ? whole : whole.slice(0, at);
  const directive = at >= 0 && /(?:^|\s)#\s+(?:skip|todo)/i.test(whole.slice(at));
  return { name: name.replaceAll('\\#', '#').trim(), directive, braced };
}

/** A point of ava at the top: its description, with the file in front of it if there are several. */
const AVA_POINT = /^(not )?ok +\d{1,7} - (.+ › )?/;
/** What ava writes of a hook without a title of its own, and what hooks print. */
const AVA_COMMENT = /^# (?:(?:before|after)(?:Each)?(?:\.always)? hook(?: for .*)?$| {2}\S)/;

/**
 * Without comments that ava writes of hooks, whenever these end: they would be taken for names of tests, and be others
 * in each run. Documents of other runners are unchanged.
 */
export function withoutHooksOfAva(lines: readonly string[]): readonly string[] {
  const starts = lines.flatMap((line, index) => (/^TAP version \d+$/.test(line) ? [index] : []));
  return [0, ...starts].flatMap((start, index) => {
    const document = lines.slice(start, starts[index] ?? lines.length);
    const points = document
      .filter((line) => /^(?:not )?ok +\d/.test(line))
      .map((line) => AVA_POINT.exec(line));
    if (points.some((point) => point === null) || document.some((line) => /^\s*# Subtest/.test(line)))
      return document;
    // A file that ends early is a failed point without a file in front.
    const hasFiles = points.some((point) => point?.[2]) && points.every((point) => point?.[1] || point?.[2]);
    return document.filter((line) => !(hasFiles ? line.startsWith('# ') : AVA_COMMENT.test(line)));
  });
}
