/**
 * Does one of the globs match the path? `**` stands for any number of folders, `*` and `?` for characters within one
 * component; all else is literal, upper and lower case differ, and names that begin with a dot are not special. A
 * glob that ends in `/` means everything below. No backtracking: time is at most the product of the two lengths.
 */
export const matchesAny = (globs: readonly string[], path: string): boolean => {
  const parts = path.split('/');
  return globs.some((glob) => matchesParts(globParts(glob), parts));
};

function globParts(glob: string): readonly string[] {
  const trimmed = glob.replace(/^(?:\.?\/)+/, '');
  const whole = trimmed.endsWith('/') ? `${trimmed}**` : trimmed;
  const parts: string[] = [];
  for (const part of whole.split('/')) if (part !== '**' || parts.at(-1) !== '**') parts.push(part);
  return parts;
}

/** `reach[i]`: the parts of the path read so far match the first i parts of the glob. */
function matchesParts(glob: readonly string[], path: readonly string[]): boolean {
  let reach = closure([true, ...glob.map(() => false)], glob);
  for (const [read, part] of path.entries()) {
    const next = [false];
    for (const [i, pattern] of glob.entries()) {
      const stays = pattern === '**' && (reach[i + 1] === true || reach[i] === true);
      next[i + 1] = stays || (pattern !== '**' && reach[i] === true && matchesPart(pattern, part));
    }
    reach = closure(next, glob);
    if (read < path.length - 1 && !reach.includes(true)) return false;
  }
  // A last `**` means what is below a folder, not the folder itself.
  return reach[glob.length] === true;
}

/** `**` also stands for nothing, unless it is the last part. */
function closure(reach: readonly boolean[], glob: readonly string[]): boolean[] {
  const closed = [...reach];
  for (const [i, pattern] of glob.entries()) {
    if (pattern === '**' && i < glob.length - 1 && closed[i]) closed[i + 1] = true;
  }
  return closed;
}

/** One component: the classic scan that remembers only the last `*`. */
function matchesPart(pattern: string, text: string): boolean {
  let p = 0;
  let t = 0;
  let star = -1;
  let resume = 0;
  while (t < text.length) {
    if (pattern[p] === '*') {
      star = p++;
      resume = t;
    } else if (p < pattern.length && (pattern[p] === '?' || pattern[p] === text[t])) {
      p++;
      t++;
    } else if (star >= 0) {
      p = star + 1;
      t = ++resume;
    } else {
      return false;
    }
  }
  while (pattern[p] === '*') p++;
  return p === pattern.length;
}
