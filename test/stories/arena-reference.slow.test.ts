import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { atTerminal, type Terminal } from '../world/terminal.ts';

const LIST = "export function list(items) {\n  return items.join(', ');\n}\n";
const CHECK = "import { list } from './list.js';\nif (list([]) !== 'nothing to do') process.exit(1);\n";
const changeTo = (line: string, from = "return items.join(', ');"): string => `--- a/list.js
+++ b/list.js
@@ -1,3 +1,3 @@
 export function list(items) {
-  ${from}
+  ${line}
 }
`;
const RIGHT = changeTo("return items.join(', ') || 'nothing to do';");

const scripts = {
  'scripted-heron': { turns: [{ kind: 'text', text: `\`\`\`diff\n${RIGHT}\`\`\`\n` }] as const },
};

async function writeContest(me: Terminal): Promise<string> {
  const folder = join(me.repository, 'evals');
  const files = {
    'contest.yml': `version: 1
name: first
prompts: { short: Be brief. }
contestants: { prompts: [short], models: [anthropic/scripted-heron] }
tasks:
  - id: empty-list
    kind: repo
    base: { template: template }
    statement: list([]) must say "nothing to do".
    verify: node check.js
    reference: fix.diff
`,
    'template/package.json': '{ "type": "module" }\n',
    'template/list.js': LIST,
    'template/check.js': CHECK,
  };
  await mkdir(join(folder, 'template'), { recursive: true });
  for (const [path, text] of Object.entries(files)) await writeFile(join(folder, path), text);
  return folder;
}

test('nobody is paid for a task whose reference fails; once it is corrected, the task is asked and rated', () =>
  atTerminal({ scripts }, async (me) => {
    const folder = await writeContest(me);
    const reference = (diff: string) => writeFile(join(folder, 'fix.diff'), diff);
    const gen = () => me.runoff('arena', 'gen', 'first', '--dir', 'evals');
    const bases = async () =>
      (await readFile(join(folder, 'bases.jsonl'), 'utf8'))
        .trim()
        .split('\n')
        .map((line) => (JSON.parse(line) as { readonly rated: boolean }).rated);

    await reference(changeTo("return 'nothing to do';", 'return items.join(";");'));
    expect(await gen()).toMatchObject({
      err: expect.stringContaining(
        'base of empty-list: nobody is asked. Its reference does not solve it. The diff does not apply',
      ),
      out: expect.stringContaining('0 of 0 samples; 0 made now. $0.00 spent.'),
    });
    // Nothing has changed: it is looked at again, and stands in the file once.
    await gen();
    expect([me.asked.length, await bases()]).toEqual([0, [false]]);
    const report = ['arena', 'report', 'first', '--dir', 'evals'] as const;
    expect((await me.runoff(...report)).out).toContain('Its reference does not solve it.');

    await reference(RIGHT);
    expect(await gen()).toMatchObject({
      err: expect.stringContaining('base of empty-list: the task distinguishes contestants'),
      out: expect.stringContaining('1 of 1 sample; 1 made now.'),
    });
    expect([me.asked.length, await bases()]).toEqual([1, [false, true]]);
    expect((await me.runoff(...report)).out).toContain('No task is left out.');

    await reference(changeTo("return items.length === 0 ? 'nothing to do' : items.join(', ');"));
    expect((await gen()).out).toContain('1 of 1 sample; 0 made now.');
    expect([me.asked.length, await bases()]).toEqual([1, [false, true, true]]);
  }));
