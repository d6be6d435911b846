import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { COMMAND_NAMES, COMMANDS, parseCommand } from '../../src/core/commands/index.ts';
import {
  checkboxEdit,
  helpReply,
  marker,
  noteReply,
  type Report,
  statusReply,
  unknownReply,
} from '../../src/core/reports/index.ts';
import { CORPUS, poisoned } from '../core/reports/hostile.ts';

const EXAMPLES = COMMAND_NAMES.map((name) => COMMANDS[name].example);
const heard = (body: string): boolean => parseCommand(body) !== null;

describe('case 14: a command that is not the first word of a comment', () => {
  const PLACES: Readonly<Record<string, (command: string) => string>> = {
    'in a quotation': (command) => `> ${command}`,
    'in a quotation that is answered': (command) => `> ${command}\n\nI agree.`,
    'in a fence': (command) => `\`\`\`\n${command}\n\`\`\``,
    'in a fence of tildes': (command) => `~~~text\n${command}\n~~~`,
    'in code': (command) => `\`${command}\``,
    'as a block of code': (command) => `    ${command}`,
    'behind a tab': (command) => `\t${command}`,
    'in an HTML comment': (command) => `<!-- ${command} -->`,
    'in an HTML comment over lines': (command) => `<!--\n${command}\n-->`,
    'behind an HTML comment': (command) => `<!-- x -->\n${command}`,
    'on the second line': (command) => `Thanks!\n${command}`,
    'after an empty line': (command) => `Thanks!\n\n${command}`,
    'mid-sentence': (command) => `Please ${command}`,
    'in a list': (command) => `- ${command}`,
    'in a box to tick': (command) => `- [ ] ${command}`,
    'in a heading': (command) => `# ${command}`,
    'in bold': (command) => `**${command}**`,
    'in a link': (command) => `[${command}](https://x.test)`,
    'in details': (command) => `<details>\n${command}\n</details>`,
    'behind a mention': (command) => `@runoff ${command}`,
    'behind a backslash': (command) => `\\${command}`,
  };
  test.each(Object.keys(PLACES))('case 14: is ignored in %s', (place) => {
    expect(EXAMPLES.map((command) => PLACES[place]?.(command) ?? '').filter(heard)).toEqual([]);
  });

  test('case 14: is ignored after any text on the page', () => {
    const before = fc
      .string({ unit: 'binary', minLength: 1, maxLength: 20 })
      .filter((text) => /\S/.test(text));
    fc.assert(
      fc.property(
        before,
        fc.constantFrom('', ' ', '\n', '\r\n\r\n'),
        fc.constantFrom(...EXAMPLES),
        (text, gap, command) => {
          expect(heard(`${text}${gap}${command}`)).toBe(
            /^(?:[ \t]{0,3}\r?\n)* {0,3}\/auto-dev(?:[ \t\r\n]|$)/.test(text),
          );
        },
      ),
      { numRuns: 1_000 },
    );
  });
});

test('case 15: a command that is edited into a comment of Runoff is neither a command nor a tick', () => {
  const ours = `${marker('choice', 'r7k2m9q4xa')}\n\n- [ ] A\n- [ ] B\n- [ ] None of them\n`;
  for (const command of EXAMPLES) {
    for (const edited of [
      `${command}\n${ours}`,
      `${ours}${command}\n`,
      ours.replace('- [ ] B', `- [x] B ${command}`),
    ]) {
      expect(checkboxEdit(ours, edited)).toEqual({ kind: 'other' });
    }
    expect(parseCommand(`${ours}${command}\n`)).toBeNull();
  }
  expect(checkboxEdit(ours, ours.replace('- [ ] B', '- [x] B'))).toEqual({ kind: 'ticked', box: 2 });
});

describe('case 17: a look-alike of a command', () => {
  const LOOK_ALIKES = [
    '／auto-dev', // a full-width slash
    '∕auto-dev', // a division slash
    '⁄auto-dev', // a fraction slash
    '/аuto-dev', // a Cyrillic a
    '/auto‑dev', // a hyphen that does not break
    '/auto–dev',
    '/auto_dev',
    '/autodev',
    '/ａｕｔｏ-ｄｅｖ',
    '/𝚊𝚞𝚝𝚘-𝚍𝚎𝚟',
    '/Auto-dev',
    '/AUTO-DEV',
    '//auto-dev',
    '/auto-dev:',
    '/auto-dev,',
    '/auto-developer',
    '/auto-dev\u00a0help',
    '/auto-dev\u3000help',
  ];
  test.each(LOOK_ALIKES)('case 17: is ignored: %j', (written) => {
    expect(COMMAND_NAMES.filter((name) => heard(`${written} ${name}`))).toEqual([]);
  });

  const UNSEEN = [
    '\u200b',
    '\u200d',
    '\u2060',
    '\ufeff',
    '\u00ad',
    '\u202e',
    '\u{e0061}',
    '\ufe0f',
    '\u3164',
    '\u0000',
  ];
  test.each(UNSEEN)('case 17: is never applied with %j anywhere in it', (character) => {
    for (const command of [
      '/auto-dev pick B',
      '/auto-dev cancel',
      '/auto-dev approve',
      '/auto-dev run -n 4',
    ]) {
      for (let at = 0; at <= command.length; at++) {
        const parsed = parseCommand(`${command.slice(0, at)}${character}${command.slice(at)}`);
        expect([null, 'unknown']).toContain(parsed === null ? null : parsed.name);
      }
    }
  });

  test('case 17: is ignored with any letter of another alphabet', () => {
    const others = Array.from({ length: 0x3000 }, (_, point) => String.fromCodePoint(point)).filter(
      (letter) => !/[A-Za-z]/.test(letter) && /\p{L}/u.test(letter),
    );
    const taken = others.filter((letter) => {
      const parsed = [`pic${letter} B`, `${letter}i`, `pick ${letter}`].map((text) =>
        parseCommand(`/auto-dev ${text}`),
      );
      return parsed.some((command) => command !== null && command.name !== 'unknown');
    });
    expect(taken).toEqual([]);
  });
});

/** Every answer to a command, with all that others can write set to `text`. */
const answers = (text: string): readonly Report[] => {
  const view = poisoned(text);
  return [
    helpReply(1),
    noteReply(1, text),
    noteReply(1, `It does not take \`${text.replaceAll('`', "'")}\`.`),
    unknownReply(1, { word: text, meant: null, why: text }),
    unknownReply(1, { word: text, meant: 'pick', why: text }),
    statusReply(1, { ...view, state: 'briefed' }, 'https://github.test/c/1'),
    statusReply(1, { ...view, state: 'awaiting_pick' }, null),
    statusReply(
      1,
      { ...view, state: 'failed', trouble: { code: 'INTERNAL', message: text, advice: text } },
      null,
    ),
    statusReply(1, null, null),
  ];
};

describe('case 72: text of Runoff contains no command', () => {
  const COMMANDS_OF_OTHERS = [
    '/auto-dev pick A',
    '@dependabot merge',
    '/merge',
    'bors r+',
    '/lgtm\n/approve',
    '@coderabbitai review',
    '/ok-to-test',
    '@mergifyio refresh',
    'text\n/azp run',
    '\n\n/retest',
  ];
  test.each([...COMMANDS_OF_OTHERS, ...CORPUS])('case 72: %j', (text) => {
    for (const { body } of answers(text)) {
      expect(parseCommand(body)).toBeNull();
      expect(body.split('\n').filter((line) => /^\s*\/|^\s*bors |@[A-Za-z0-9-]/.test(line))).toEqual([]);
    }
  });

  test('case 72: to Runoff itself, whatever it repeats', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 60 }), (text) => {
        for (const { body, marker } of answers(`/auto-dev ${text}`)) {
          expect(body.startsWith(`${marker}\n`)).toBe(true);
          expect(body).not.toMatch(/^\s*\/auto-dev/m);
        }
      }),
      { numRuns: 200 },
    );
  });
});
