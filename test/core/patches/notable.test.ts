import { describe, expect, test } from 'vitest';
import { notable } from '../../../src/core/patches/index.ts';
import { comparison, pullRequest } from '../../../src/core/reports/index.ts';
import { published } from '../reports/sample.ts';

describe('a reader shall look twice', () => {
  test.each([
    ['CLAUDE.md', 'steers coding agents'],
    ['packages/a/AGENTS.md', 'steers coding agents'],
    ['.claude/settings.json', 'steers coding agents'],
    ['.mcp.json', 'steers coding agents'],
    ['.codex/config.toml', 'steers coding agents'],
    ['.agents/skills/deploy/SKILL.md', 'steers coding agents'],
    ['.vscode/mcp.json', 'is run by git or on a developer’s machine'],
    ['.github/copilot-instructions.md', 'steers coding agents'],
    ['.husky/pre-commit', 'is run by git or on a developer’s machine'],
    ['.vscode/tasks.json', 'is run by git or on a developer’s machine'],
    ['package-lock.json', 'decides which packages are installed, and from where'],
    ['sub/.npmrc', 'decides which packages are installed, and from where'],
    ['.gitattributes', 'changes how git reads files'],
  ])('at %s, which %s', (path, why) => {
    expect(notable({ path })).toBe(why);
  });

  test('at a pointer to content that nobody has seen', () => {
    const section =
      'diff --git a/logo.png b/logo.png\n+version https://git-lfs.github.com/spec/v1\n+oid sha256:0\n+size 1\n';
    expect(notable({ path: 'logo.png', section })).toMatch(/Git LFS/);
  });

  test.each([
    'src/claude.ts',
    'docs/agents.md.txt',
    'README.md',
    'package.json',
    'src/.claude.ts',
    'lock.json',
  ])('but not at %s', (path) => {
    expect(notable({ path })).toBeNull();
  });

  test('and the pull request and the comparison say so for every candidate', () => {
    const file = { change: 'added', additions: 1, deletions: 0, binary: false } as const;
    const diffs = {
      A: { text: '+x', files: [{ ...file, path: '.mcp.json' }] },
      B: { text: '+x', files: [{ ...file, path: 'CLAUDE.md' }] },
    };
    const [{ body }] = comparison(published(), diffs);
    expect(body).toContain('- **Look twice at A:** `.mcp.json` steers coding agents');
    expect(body).toContain('- **Look twice at B:** `CLAUDE.md` steers coding agents');
    expect(pullRequest(published(), 'B', diffs).body).toContain(
      '- `CLAUDE.md` added, +1 −0. **Look twice:** it steers coding agents',
    );
  });
});
