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

Made by \`npm run docs\` from the table that the parser reads; edit \`src/core/commands/command.ts\` and \`scripts/write-commands.ts\`.

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

\`--flag=value\` is the same as \`--flag value\`, a value may stand in quotation marks, and the dashes (— –) that phones make of two hyphens also work. The task is always the text of the issue: other text after \`run\` is rejected.

## What a run works on

A run works on the text of the issue at the time of the command, even if it starts later: later edits are not read. \`/auto-dev retry\` on the issue also takes its text at that time; on a pull request that Runoff opened it takes the text that the run had. \`/auto-dev retry B\` always takes the latter, because the other candidates were written for it.

## Who can use commands

People with write access to the repository, which Runoff reads from GitHub at that moment, by account id. Triage access, read access or authorship of a fork is not enough; bots and Apps, including this one, can never use commands. Runoff does not reply to anyone else. While GitHub cannot confirm access, the command waits for up to one hour; it never counts as allowed. Runoff remembers a refusal for one minute: if you have just been given access, wait that long and repeat the command.

## Picking

If the evidence is inconclusive, or the settings say \`evaluator: human\`, Runoff opens no pull request and posts the comparison on the issue, with a checkbox for each candidate that can be picked and one to reject them all. Ticking a box, \`/auto-dev pick B\` or \`/auto-dev pick none\` decides. There is no deadline, and waiting costs nothing. A later pick replaces the code on the pull request with another candidate's in a new commit on its branch; Runoff never force-pushes. \`/auto-dev vote B\` records votes as advice for whoever picks; they decide nothing by themselves.

## Pull requests by others

\`review\` and \`fix\` work on any open pull request from the repository itself, not from a fork. The result is a draft pull request *into* its branch: Runoff never pushes to other people's branches.

## Order

A command applies to the latest run of its issue or pull request: that of the issue, the one whose pull request it is, or a \`review\` or \`fix\` there. On a pull request that Runoff opened, \`pick\`, \`vote\`, \`explain\` and \`ci\` mean the run that opened it, also after a \`review\` or \`fix\` there; only while one of these asks for a pick in that conversation, \`pick\`, \`vote\` and \`explain\` mean that one. A checkbox applies to the comparison it belongs to, whatever came after it.

Runoff applies the commands of one repository one at a time, in the order of GitHub's timestamps. If two contradict each other, both are applied in that order and recorded. Of two picks, the one with the later timestamp wins, whichever is delivered first; a \`cancel\` before a \`retry\` cancels the run, then starts a new one.

## Missed webhooks

Commands arrive by webhook. Runoff does not look for comments whose webhook never arrived: if no reaction appears, post the command again. It notices a pull request that was closed or merged while it was down only at the next command; until then the run counts as published. It does look for labels that were added and issues that were closed.

## Reactions

| on your comment | means |
| --- | --- |
| 👀 | you have write access, and Runoff is applying the command |
| 🚀 | done |
| 😕 | refused; the reply below says why |

## At the command line

\`runoff cancel\`, \`status\`, \`answer\`, \`approve\`, \`revise\` and \`pick\` do the same for runs on this machine: \`runoff pick RUN B\`, \`runoff pick RUN none\`. See \`runoff --help\`.
`;
