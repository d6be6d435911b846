import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  answerOf,
  MAX_COMMAND_TEXT,
  parseCommand,
  replyOf,
  unrecognizedCommand,
} from '../../../src/core/commands/index.ts';
import { visibleMarkdown } from '../../../src/core/prompts/index.ts';
import { cpuMsSince } from '../../world/cpu-time.ts';

describe('a command is read', () => {
  test.each([
    ['/auto-dev answer 2', { name: 'answer', option: 2 }],
    ['/auto-dev answer 12 \n', { name: 'answer', option: 12 }],
    ['/auto-dev answer half up, please', { name: 'answer', text: 'half up, please' }],
    ['/auto-dev answer 2 but only for prices', { name: 'answer', text: '2 but only for prices' }],
    ['/auto-dev answer 0', { name: 'answer', text: '0' }],
    ['/auto-dev answer 2026', { name: 'answer', text: '2026' }],
    ['/auto-dev approve', { name: 'approve' }],
    ['/auto-dev   Approve  ', { name: 'approve' }],
    ['\n\r\n  /auto-dev approve\r\n', { name: 'approve' }],
    ['/auto-dev revise Keep the API.\n\n- no flag\n', { name: 'revise', text: 'Keep the API.\n\n- no flag' }],
    ['/auto-dev answer\nin the next line', { name: 'answer', text: 'in the next line' }],
    ['/auto-dev status', { name: 'status' }],
    ['/auto-dev CANCEL\r\n\r\n', { name: 'cancel' }],
    ['/auto-dev retry', { name: 'retry', alias: null }],
    ['/auto-dev retry all', { name: 'retry', alias: null }],
    ['/auto-dev retry -n 2', { name: 'retry', alias: null, options: { candidates: 2 } }],
    ['/auto-dev retry all --budget 3', { name: 'retry', alias: null, options: { budgetUsd: 3 } }],
    ['/auto-dev retry b', { name: 'retry', alias: 'B' }],
    ['/auto-dev pick B', { name: 'pick', alias: 'B' }],
    ['/auto-dev pick `b`', { name: 'pick', alias: 'B' }],
    ['/auto-dev pick “B”', { name: 'pick', alias: 'B' }],
    ['/auto-dev pick None', { name: 'pick', alias: null }],
    ['/auto-dev vote z', { name: 'vote', alias: 'Z' }],
    ['/auto-dev explain C', { name: 'explain', alias: 'C' }],
    ['/auto-dev ci', { name: 'ci' }],
    ['/auto-dev budget $5', { name: 'budget', usd: 5 }],
    ['/auto-dev budget 5.50', { name: 'budget', usd: 5.5 }],
    ['/auto-dev review', { name: 'review' }],
    ['/auto-dev fix', { name: 'fix' }],
    ['/auto-dev help', { name: 'help' }],
  ])('%j', (body, command) => {
    expect(parseCommand(body)).toEqual(command);
  });
});

const NO_SUCH = 'There is no such command.';

describe('a misspelt command leads to a suggestion, not an action', () => {
  test.each([
    ['/auto-dev aprove', 'aprove', 'approve', NO_SUCH],
    ['/auto-dev anser 2', 'anser', 'answer', NO_SUCH],
    ['/auto-dev answer', 'answer', 'answer', 'The answer is empty.'],
    ['/auto-dev revise', 'revise', 'revise', 'Say what the new plan should change.'],
    ['/auto-dev revise ```\n```', 'revise', 'revise', 'Say what the new plan should change.'],
    ['/auto-dev answer \n\n\t\ufeff', 'answer', 'answer', 'The answer is empty.'],
    ['/auto-dev approve if the tests pass', 'approve', 'approve', 'An approval has no conditions.'],
    ['/auto-dev', '', null, NO_SUCH],
    ['/auto-dev merge', 'merge', null, NO_SUCH],
    ['/auto-dev rerun', 'rerun', 'retry', NO_SUCH],
    ['/auto-dev Stop', 'Stop', 'cancel', NO_SUCH],
    ['/auto-dev cost', 'cost', 'status', NO_SUCH],
    ['/auto-dev pikc B', 'pikc', 'pick', NO_SUCH],
    ['/auto-dev halp', 'halp', 'help', NO_SUCH],
    ['/auto-dev pic\u212a B', 'pic\u212a', 'pick', NO_SUCH],
    ['/auto-dev pick\u200b B', 'pick\u200b', 'pick', NO_SUCH],
    ['/auto-dev constructor', 'constructor', null, NO_SUCH],
    [`/auto-dev ${'x'.repeat(5_000)}`, 'x'.repeat(40), null, NO_SUCH],
  ])('%j', (body, word, meant, why) => {
    expect(parseCommand(body)).toEqual({ name: 'unknown', word, meant, why });
  });
});

describe('a command with invalid arguments leads to a message, not an action', () => {
  const whyOf = (body: string) => {
    const command = parseCommand(body);
    return command?.name === 'unknown' ? command.why : null;
  };
  test.each([
    [
      '/auto-dev cancel please',
      '`cancel` takes no further text, and a comment gives one command: write only `/auto-dev cancel`.',
    ],
    [
      '/auto-dev help\n\nThanks!',
      '`help` takes no further text, and a comment gives one command: write only `/auto-dev help`.',
    ],
    ['/auto-dev pick', 'An argument is missing. Write `/auto-dev pick B` or `/auto-dev pick none`.'],
    [
      '/auto-dev pick B please',
      'It does not take `B please`. Write `/auto-dev pick B` or `/auto-dev pick none`.',
    ],
    ['/auto-dev pick all', 'It does not take `all`. Write `/auto-dev pick B` or `/auto-dev pick none`.'],
    ['/auto-dev pick В', 'It does not take `В`. Write `/auto-dev pick B` or `/auto-dev pick none`.'],
    [
      '/auto-dev pick B\u200b',
      'It does not take `B\u200b`. Write `/auto-dev pick B` or `/auto-dev pick none`.',
    ],
    [
      '/auto-dev pick B\ufeff',
      'It does not take `B\ufeff`. Write `/auto-dev pick B` or `/auto-dev pick none`.',
    ],
    [
      '/auto-dev vote none',
      'It does not take `none`. Write the letter of one candidate: `/auto-dev vote B`.',
    ],
    [
      '/auto-dev explain',
      'An argument is missing. Write the letter of one candidate: `/auto-dev explain B`.',
    ],
    [
      '/auto-dev retry B -n 2',
      'It does not take `B -n 2`. Write `/auto-dev retry B` or `/auto-dev retry all`.',
    ],
    ['/auto-dev retry AB', 'It does not take `AB`. Write `/auto-dev retry B` or `/auto-dev retry all`.'],
    [
      '/auto-dev budget five',
      'It does not take `five`. Write the budget of the whole run in US dollars, from $0.01 to $1,000: `/auto-dev budget 7.50`.',
    ],
    [
      '/auto-dev budget -1',
      'It does not take `-1`. Write the budget of the whole run in US dollars, from $0.01 to $1,000: `/auto-dev budget 7.50`.',
    ],
    [
      '/auto-dev budget 0',
      'It does not take `0`. Write the budget of the whole run in US dollars, from $0.01 to $1,000: `/auto-dev budget 7.50`.',
    ],
    [
      '/auto-dev budget 1e3',
      'It does not take `1e3`. Write the budget of the whole run in US dollars, from $0.01 to $1,000: `/auto-dev budget 7.50`.',
    ],
  ])('%j', (body, why) => {
    expect(whyOf(body)).toBe(why);
  });
});

describe('text that is not a command', () => {
  test.each([
    ['mid-sentence', 'Please /auto-dev approve'],
    ['on the second line', 'I agree.\n/auto-dev approve'],
    ['quoted', '> /auto-dev approve'],
    ['in a fence', '```\n/auto-dev approve\n```'],
    ['in code', '`/auto-dev approve`'],
    ['indented as code', '    /auto-dev approve'],
    ['after a tab', '\t/auto-dev approve'],
    ['in a list', '- /auto-dev approve'],
    ['in an HTML comment', '<!-- \n/auto-dev approve -->'],
    ['after an HTML comment', '<!-- x -->/auto-dev approve'],
    ['with a full-width slash', '／auto-dev approve'],
    ['with a homoglyph', '/аuto-dev approve'],
    ['with a hyphen that is none', '/auto‑dev approve'],
    ['with a zero-width space', '/auto\u200b-dev approve'],
    ['behind a zero-width space', '\u200b/auto-dev approve'],
    ['behind a byte-order mark', '\ufeff/auto-dev approve'],
    ['behind a no-break space', '\u00a0/auto-dev approve'],
    ['of somebody else', '/auto-developer approve'],
    ['behind a no-break space of its own', '/auto-dev\u00a0approve'],
    ['with a mark behind the name', '/auto-dev, approve'],
    ['with a colon', '/auto-dev:approve'],
    ['with another spelling', '/autodev approve'],
    ['in capitals', '/AUTO-DEV approve'],
    ['escaped', '\\/auto-dev approve'],
    ['empty', ''],
  ])('%s', (_where, body) => {
    expect(parseCommand(body)).toBeNull();
  });
});

/** What decides how Markdown is read, and what nobody sees. */
const BLANK_OR_FENCE = fc.constantFrom(
  ' ',
  '\t',
  '\n',
  '`',
  '```',
  '~~~',
  '>',
  '-',
  'a',
  '\ufeff',
  '\u00a0',
  '\u200b',
  '\f',
);

test.each([
  fc.string({ unit: 'binary', maxLength: 9_000 }),
  fc.string({ unit: BLANK_OR_FENCE, maxLength: 14 }),
])('the text of a command is limited and complete', (texts) => {
  fc.assert(
    fc.property(texts, (text) => {
      const command = parseCommand(`/auto-dev revise ${text}`);
      if (command?.name === 'unknown') {
        expect(visibleMarkdown(text.replace(/^[ \t\r\n]+|[ \t\r\n]+$/g, '')).text.trim()).toBe('');
        return;
      }
      expect(command?.name).toBe('revise');
      const said = command?.name === 'revise' ? command.text : '';
      expect(said.length).toBeLessThanOrEqual(MAX_COMMAND_TEXT);
      expect(said.isWellFormed()).toBe(true);
    }),
  );
});

test('a long comment is parsed quickly', () => {
  const began = process.cpuUsage();
  for (const unit of [' \n', '\n', '/auto-dev\n', '/auto-dev ', ' ', '\r\n '])
    parseCommand(unit.repeat(60_000));
  for (let n = 0; n < 30; n += 1) parseCommand(`/auto-dev run --base${' '.repeat(7_900)}x`);
  expect(cpuMsSince(began)).toBeLessThan(1_000);
});

test('a command becomes a reply to a run', () => {
  const by = { id: 5, login: 'mona' };
  expect(replyOf({ name: 'answer', ...answerOf(' 2 ') }, by, 7)).toEqual({
    kind: 'answer',
    option: 2,
    text: '',
    by,
    at: 7,
  });
  expect(replyOf({ name: 'approve' }, null, 7)).toEqual({ kind: 'approve', text: '', by: null, at: 7 });
  expect(replyOf({ name: 'unknown', word: 'x', meant: null, why: NO_SUCH }, by, 7)).toBeNull();
});

test.each([
  ['/auto-dev aprove', 'approval', '/auto-dev aprove', 'approve'],
  ['/auto-dev aprove', 'answer', '/auto-dev aprove', 'answer'],
  ['/auto-dev revise', 'approval', '/auto-dev revise', 'revise'],
  ['/auto-dev answer 7', 'answer', '/auto-dev answer 7', 'answer'],
  ['/auto-dev answer a long story', 'approval', '/auto-dev answer', 'approve'],
  ['/auto-dev', 'approval', '/auto-dev', 'approve'],
] as const)('%s gets a message about what an open %s accepts', (body, kind, text, meant) => {
  const command = parseCommand(body);
  expect(command && unrecognizedCommand(command, 'Why.', { kind })).toEqual({ text, why: 'Why.', meant });
});
