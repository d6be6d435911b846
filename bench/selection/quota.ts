import { packageOf, type SelectionTask } from './task.ts';

const before = `/** A counter for each key, with a limit. */
export class Quota {
  #limit;
  #used = new Map();

  constructor(limit) {
    this.#limit = limit;
  }

  /** False when nothing is left. */
  take(key, count = 1) {
    const used = this.#used.get(key) ?? 0;
    if (used > this.#limit) return false;
    this.#used.set(key, used + count);
    return true;
  }

  left(key) {
    return this.#limit - (this.#used.get(key) ?? 0);
  }
}
`;

const tests = `import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { Quota } from '../src/quota.js';

describe('Quota', () => {
  let quota;
  beforeEach(() => {
    quota = new Quota(3);
  });

  it('begins with all of it', () => {
    assert.equal(quota.left('a'), 3);
  });

  it('counts each key by itself', () => {
    quota.take('a');
    assert.equal(quota.left('a'), 2);
    assert.equal(quota.left('b'), 3);
  });

  it('can take several', () => {
    assert.equal(quota.take('a', 2), true);
    assert.equal(quota.left('a'), 1);
  });
});
`;

/** State between calls: a limit that lets one too many pass. */
export const quota: SelectionTask = {
  name: 'quota: one too many',
  issue: `# More can be taken than there is

\`\`\`js
const quota = new Quota(2);
quota.take('a');
quota.take('a');
assert.equal(quota.take('a'), false);
\`\`\`

The third call returns \`true\`, and \`left\` is negative then. What does not fit must not be counted either.
`,
  files: { ...packageOf('quota'), 'src/quota.js': before, 'test/quota.test.js': tests },
  candidates: [
    {
      name: 'what does not fit',
      right: true,
      files: { 'src/quota.js': before.replace('used > this.#limit', 'used + count > this.#limit') },
    },
    {
      name: 'asks what is left',
      right: true,
      files: {
        'src/quota.js': before.replace(
          'if (used > this.#limit) return false;',
          'if (this.left(key) < count) return false;',
        ),
      },
    },
    {
      name: 'one at a time',
      right: false,
      files: { 'src/quota.js': before.replace('used > this.#limit', 'used >= this.#limit') },
    },
    {
      name: 'hides the rest',
      right: false,
      files: {
        'src/quota.js': before
          .replace('used > this.#limit', 'used >= this.#limit')
          .replace(
            'return this.#limit - (this.#used.get(key) ?? 0);',
            'return Math.max(0, this.#limit - (this.#used.get(key) ?? 0));',
          ),
      },
    },
    {
      name: 'changes the test',
      right: false,
      files: {
        'src/quota.js': `${before}// limits are checked by callers\n`,
        'test/quota.test.js': tests.replace("  it('can take several'", "  it.skip('can take several'"),
      },
    },
  ],
};
