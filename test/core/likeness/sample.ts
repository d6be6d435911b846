import fc from 'fast-check';

export interface Written {
  /** Line of the base at which the hunk begins; 1 by default. */
  readonly at?: number;
  readonly heading?: string;
  readonly created?: true;
  readonly renamed?: string;
}

/** A file's part of a patch, from its lines with their signs; the counts are right. */
export function change(path: string, lines: readonly string[], options: Written = {}): string {
  const { at = 1, heading = '', created, renamed } = options;
  const left = lines.filter((line) => !line.startsWith('+')).length;
  const right = lines.filter((line) => !line.startsWith('-')).length;
  const hunk = `@@ -${left === 0 ? at - 1 : at},${left} +${at},${right} @@${heading && ` ${heading}`}\n`;
  return [
    `diff --git a/${renamed ?? path} b/${path}\n`,
    created ? 'new file mode 100644\n' : '',
    renamed ? `rename from ${renamed}\nrename to ${path}\n` : '',
    lines.length === 0 ? '' : `--- ${created ? '/dev/null' : `a/${renamed ?? path}`}\n+++ b/${path}\n${hunk}`,
    ...lines.map((line) => `${line}\n`),
  ].join('');
}

export const patch = (...changes: readonly string[]): string => changes.join('');

export const created = (path: string, lines: readonly string[]): string =>
  change(
    path,
    lines.map((line) => `+${line}`),
    { created: true },
  );

const word = fc.constantFrom(
  'total',
  'rate',
  'if',
  'return',
  'null',
  '(',
  ')',
  '{',
  '}',
  '+',
  ';',
  '"a b"',
  '0',
  ',',
);
const code = fc.array(word, { maxLength: 8 }).map((words) => words.join(' '));
const comment = fc.constantFrom('', '// total rate', '/* rate */', '  ', '# null', '"""', '`', '<!--');
const line = fc
  .tuple(fc.constantFrom(' ', '+', '-'), fc.oneof({ weight: 5, arbitrary: code }, comment))
  .map(([sign, text]) => sign + text);
const path = fc.constantFrom(
  'src/a.ts',
  'src/b.py',
  'src/c.rs',
  'test/a.test.ts',
  'README.md',
  'package.json',
  'debug.js',
  '__proto__',
  'src/constructor',
  'src/é"x.ts',
);
const section = fc
  .tuple(path, fc.array(line, { maxLength: 12 }), fc.integer({ min: 1, max: 400 }), fc.boolean())
  .map(([name, lines, at, isNew]) =>
    isNew
      ? created(
          name,
          lines.map((text) => text.slice(1)),
        )
      : change(name, lines, { at, heading: 'function f()' }),
  );

/** Patches of a few files, well-formed. */
export const anyPatch = fc.array(section, { maxLength: 4 }).map((sections) => patch(...sections));

/** Text that may be a patch, a broken one or none. */
export const anyText = fc.oneof(
  anyPatch,
  fc.string({ unit: 'binary', maxLength: 200 }),
  fc
    .array(
      fc.oneof(
        line,
        fc.constantFrom(
          'diff --git a/a.ts b/a.ts',
          'diff --git ',
          'diff --git "a/\\303\\266.ts" "b/\\303\\266.ts"',
          '--- a/a.ts',
          '+++ b/a.ts',
          '--- /dev/null',
          '+++ /dev/null',
          '+++ b/__proto__',
          '@@ -1,2 +1,2 @@',
          '@@ -999999999,999999999 +1 @@ f',
          '@@ ... @@',
          '@@',
          'rename from x',
          'rename to ',
          'GIT binary patch',
          '\\ No newline at end of file',
          '\r',
        ),
      ),
      { maxLength: 30 },
    )
    .map((lines) => lines.join('\n')),
);
