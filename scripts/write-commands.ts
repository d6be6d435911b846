// docs/commands.md, made from the table of commands.
import { COMMAND_NAMES, COMMANDS, type CommandRow } from '../src/core/commands/index.ts';

const WHERE = {
  issue: 'issue',
  pull: 'pull request',
  both: 'both',
} as const satisfies Record<CommandRow['where'], string>;

const rows = (): readonly string[] =>
  COMMAND_NAMES.map((name) => {
    const { usage, does, where, example } = COMMANDS[name];
    const forms = usage.map((form) => `\`${form}\``).join('<br>');
    return `| ${forms} | ${does} | ${WHERE[where]} | \`${example}\` |`;
  });

/** The whole page. */
export const commandsPage = (): string => `# Commands

Made by \`npm run docs\` from the table that the parser reads; edit \`src/core/commands/table.ts\` and \`scripts/write-commands.ts\`.

| command | what it does | on | example |
| --- | --- | --- | --- |
${rows().join('\n')}

\`X\` is the letter of a candidate, in either case. What is in brackets may be left out.

## Labels

The label \`auto-dev\` is a command that is given once: when the run starts, Runoff takes it off and sets \`auto-dev:running\`; at the end it sets \`auto-dev:done\`, \`auto-dev:none\` or \`auto-dev:failed\`, and \`auto-dev:pick\` while a person must pick. Setting \`auto-dev\` again starts again. Taking \`auto-dev:running\` off cancels, as \`/auto-dev cancel\` and closing the issue do.

## Where a command counts

Only at the very start of a comment, as its first word: \`/auto-dev\`, a blank, the command. Empty lines before it do not matter. It counts in comments on issues and pull requests and in comments on lines of a pull request.

It does not count in a quotation, a list, code, an HTML comment, further down in the text, with four blanks before it, or where a letter only looks like the right one (\`／auto-dev\`, a Cyrillic \`а\`, a character in it that nobody sees). \`/autodev\`, \`/auto-dev:help\` and \`/auto-dev, help\` are no commands either, and get no answer. Comments are read when they are written: an edit adds no command and takes none back.

One comment is one command. Behind a command that takes nothing, nothing may stand; \`answer\` and \`revise\` take all the text that follows, 4,000 characters at most. What does not fit is refused with a sentence that says what to write, and nothing is done.

## Flags of \`run\`

They stand on one line behind the command, in any order. The operator's ceilings win, as they do over the repository's settings.

| flag | takes |
| --- | --- |
| \`--coders\` | agents, with commas between them, taken in turn |
| \`--models\` | models as \`provider/model\`, with commas between them, taken in turn; alone they are models of the built-in agent |
| \`-n\`, \`--candidates\` | how many coders compete, 1 to 12 |
| \`--evaluator\` | strategies in the order in which they decide; \`human\` leaves the pick to a person |
| \`--budget\` | US dollars for the whole run: \`5\`, \`5.50\` or \`$5\` |
| \`--timeout\` | wall time of one coder: \`90s\`, \`30m\` or \`2h\` |
| \`--base\` | branch, tag or commit to start from |

\`\`\`text
/auto-dev run
/auto-dev run -n 4 --budget 8
/auto-dev run --coders claude-code,codex --models anthropic/claude-sonnet-5,openai/gpt-6-sol
/auto-dev run --evaluator=evidence,human --base release/2.1
\`\`\`

\`--flag=value\` is the same as \`--flag value\`, a value may stand in quotation marks, and the dashes (— –) that phones make of two hyphens are taken for them. What is to be done always stands in the issue: other text behind \`run\` is refused.

## What a run works on

On the words that the issue has when the command is written, however late its turn comes: later edits are not read. \`/auto-dev retry\` on the issue takes its words of that moment too; on a pull request that Runoff opened it takes those that the run had. \`/auto-dev retry B\` always takes those, since the other candidates were written for them.

## Who is heard

People with write permission on the repository, as GitHub says at that moment, by their account's number. Triage, read and authors of forks are not enough, whatever the issue or pull request is; bots and Apps, this one included, are never heard. Whoever is not heard gets no answer. While GitHub does not tell, the command waits, at most an hour; it never counts as allowed. A refusal is remembered for a minute: whoever is given the right meanwhile waits for that long, and then gives the command again.

## Picking

Where the evidence does not decide, or the settings say \`evaluator: human\`, no pull request is opened: the comparison stands on the issue, with a box for each candidate that may be picked and one for none of them. A tick, \`/auto-dev pick B\` or \`/auto-dev pick none\` decides. It waits without a limit and holds nothing. A later pick puts another candidate's code on the pull request, by a commit on top of its branch; nothing is ever pushed by force. \`/auto-dev vote B\` counts votes for whoever picks: they decide nothing by themselves.

## Pull requests of others

\`review\` and \`fix\` work on any open pull request of the repository, not on one from a fork. What comes of them is a draft pull request *into* its branch: Runoff never pushes to a branch of somebody else.

## Order

A command speaks to the newest run of its issue or pull request: that of the issue, the one whose pull request it is, or a \`review\` or \`fix\` there. On a pull request that Runoff opened, \`pick\`, \`vote\`, \`explain\` and \`ci\` mean the run that opened it, also after a \`review\` or \`fix\` there; only while one of these asks for a pick in that conversation, \`pick\`, \`vote\` and \`explain\` mean that one. A tick means the comparison that it stands in, whatever came after it.

Commands of one repository are done one at a time, in the order of GitHub's own times of them. Where two contradict each other, both are done in that order, and both are kept in the record. Of two picks the one that GitHub dates later stands, whichever is delivered first; a \`cancel\` before a \`retry\` cancels, then starts anew.

## What is missed

Commands come by webhook. A comment whose webhook never came is not found: where no reaction appears, write it again. A pull request that was closed or merged while Runoff was down is noticed at the next command only; until then its run counts as published. Labels that were set, and issues that were closed, are looked for.

## Reactions

| on your comment | means |
| --- | --- |
| 👀 | you have the right, and the command is being done |
| 🚀 | done |
| 😕 | refused; the answer below says why |

## At the command line

\`runoff cancel\`, \`status\`, \`answer\`, \`approve\`, \`revise\` and \`pick\` do the same for runs on this machine: \`runoff pick RUN B\`, \`runoff pick RUN none\`. See \`runoff --help\`.
`;
