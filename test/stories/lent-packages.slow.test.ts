import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { stringify } from 'yaml';
import { ISSUE } from '../../src/demo/sample/index.ts';
import { atTerminal } from '../world/terminal.ts';

const settings = stringify({
  candidates: 2,
  checks: { build: 'node -e "require(\'dep\')" && node scripts/build.mjs', test: 'node --test' },
  coders: ['anthropic/scripted-heron', 'anthropic/scripted-mole'].map((model) => ({
    agent: 'builtin',
    model,
  })),
  adaptive: { repair: false, oneMore: false },
});

test('a run on a local repository uses the packages that its working tree has, and changes none of them', () =>
  atTerminal({ settings }, async (me) => {
    const dep = join(me.repository, 'node_modules/dep');
    await mkdir(dep, { recursive: true });
    await writeFile(join(dep, 'index.js'), 'module.exports = 1;\n');
    await writeFile(join(me.repository, '.git/info/exclude'), 'node_modules\n');
    const ended = await me.runoff('run', `${ISSUE.title}\n\n${ISSUE.body}`);
    expect(ended, ended.out + ended.err).toMatchObject({ code: 0 });
    expect(ended.out.replace(/\s+/g, ' ')).toContain(
      'Base and candidates used a read-only copy of `node_modules` of the working tree.',
    );
    // They are no part of any candidate's change.
    const branches = await me.git('for-each-ref', '--format=%(refname)', 'refs/heads/runoff');
    for (const branch of branches.split('\n'))
      expect(await me.git('diff', '--name-only', 'main', branch)).not.toContain('node_modules');
    expect(await readFile(join(dep, 'index.js'), 'utf8')).toBe('module.exports = 1;\n');
  }));
