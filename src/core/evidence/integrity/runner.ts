import { isSnapshot } from '../../patches/index.ts';
import type { Change, Suspicion } from './finding.ts';
import { firstChange, type Look } from './view.ts';

const VERBS = {
  added: 'added',
  modified: 'changed',
  deleted: 'removed',
  'type-changed': 'replaced',
} as const;

/** Files that record output, and files that configure how tests run: what a change of the whole file means. */
export function changedRunner(look: Look): readonly Suspicion[] {
  const { file } = look;
  const { path, change } = file;
  if (file.role !== 'runner') return [];
  if (isSnapshot(path)) {
    const onlyAdds = change === 'added' || (change === 'modified' && !file.binary && file.deletions === 0);
    return onlyAdds
      ? []
      : [
          {
            kind: 'snapshot-changed',
            what: 'a recorded snapshot was changed or removed',
            at: firstChange(look),
            whole: true,
          },
        ];
  }
  const lower = loweredThreshold(look);
  if (lower)
    return [{ kind: 'threshold-lowered', what: 'a bound for coverage was lowered or removed', at: lower }];
  const what = `configuration of the tests or of CI was ${VERBS[change]}`;
  return [{ kind: 'runner-configured', what, at: firstChange(look), whole: true }];
}

const THRESHOLD =
  /["']?\b(branches|functions|lines|statements|fail[_-]under|cov-fail-under|coverage|target|threshold|minimum\w*|min[_-]?\w*|check-coverage|perFile|global|autoUpdate)\b["']?\s*[:=]?\s*["']?([\d.]+|true|false)?/i;

/** A number beside a word of coverage that is smaller now, or gone. */
function loweredThreshold({ changes }: Look): Change | null {
  const found = (kind: 'added' | 'removed') =>
    changes.flatMap((change) => {
      const match = change.line.kind === kind ? THRESHOLD.exec(change.line.text.slice(0, 400)) : null;
      const value = match?.[2] === 'true' ? 1 : match?.[2] === 'false' ? 0 : Number(match?.[2] ?? Number.NaN);
      return match && !Number.isNaN(value)
        ? [{ change, name: (match[1] as string).toLowerCase(), value }]
        : [];
    });
  const now = found('added');
  const lowered = found('removed').find(({ name, value }) => {
    const same = now.filter((one) => one.name === name);
    return same.length === 0 || same.every((one) => one.value < value);
  });
  if (!lowered) return null;
  return now.find(({ name }) => name === lowered.name)?.change ?? lowered.change;
}

/** Files that stand in the way of what tests mean to load. */
const SHADOWS =
  /(?:^|\/)node_modules\/|(?:^|\/)site-packages\/|^(?:src\/)?(?:pytest|_pytest|unittest|nose|hypothesis|assert|doctest)(?:\.py|\/__init__\.py)$|^vendor\/(?:github\.com\/(?:stretchr\/testify|onsi\/(?:gomega|ginkgo)|google\/go-cmp)|gotest\.tools)\/|(?:^|\/)(?:org\/junit|org\/assertj|org\/hamcrest)\/|(?:^|\/)__mocks__\/(?:node:)?(?:assert|chai|vitest|expect|mocha|tape|ava|@jest)\b|^(?:minitest|rspec|test-unit)\.rb$/;

/** New files that a test finds where it looks for its library. */
export function shadowingFile(look: Look): readonly Suspicion[] {
  const { file } = look;
  if (file.change === 'deleted' || !SHADOWS.test(file.path)) return [];
  const what = 'it takes the place of a library that tests load';
  return [{ kind: 'assertions-patched', what, at: firstChange(look), whole: true }];
}

/** Variables that change every program that is started with them. */
const VARIABLES =
  /\bNODE_OPTIONS\b.{0,200}(?:--?(?:r|require|import|loader|experimental-loader|test\b[\w-]*)\b)|\b(?:PYTEST_ADDOPTS|PYTEST_PLUGINS|PYTHONOPTIMIZE|PYTHONSTARTUP|RUBYOPT|JAVA_TOOL_OPTIONS|LD_PRELOAD|DYLD_INSERT_LIBRARIES|GOFLAGS|CARGO_BUILD_RUSTFLAGS|PERL5OPT)\b\s*['"\]]?\s*(?::|=(?!=))/;

/** Lines that set such a variable, wherever they stand. */
export function setVariables({ file, changes }: Look): readonly Suspicion[] {
  if (file.change === 'deleted' || /\.(?:md|mdx|rst|txt|adoc|html?)$/i.test(file.path)) return [];
  const gone = new Set(changes.flatMap(({ line }) => (line.kind === 'removed' ? [line.text.trim()] : [])));
  const change = changes.find(
    ({ line }) =>
      line.kind === 'added' && !gone.has(line.text.trim()) && VARIABLES.test(line.text.slice(0, 2_000)),
  );
  return change
    ? [
        {
          kind: 'runner-configured',
          what: 'it sets a variable that changes how programs, tests among them, start',
          at: change,
        },
      ]
    : [];
}
