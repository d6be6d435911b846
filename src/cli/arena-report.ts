import { join, resolve } from 'node:path';
import type { Command } from 'commander';
import { arenaReport, REPORT_FILES, reportHtml, reportJson, reportMarkdown } from '../core/arena/index.ts';
import { asFault, Fault } from '../core/model/index.ts';
import { loadContest, readDecisions } from '../runs/index.ts';
import { EXIT, type Shell } from '../shell.ts';
import { type ContestFlags, contestCommand, contestPath } from './arena.ts';
import { arenaReportText, jsonText } from './render/index.ts';

interface ReportFlags extends ContestFlags {
  readonly out?: string;
}

/** `runoff arena report`. */
export function addReport(arena: Command, shell: Shell, done: (code: number) => void): void {
  contestCommand(arena, 'report')
    .description('rate the contestants, and write the report as Markdown, JSON and one HTML file')
    .option('--out <folder>', "folder of the report (default: the contest's folder)")
    .action(async (name: string, flags: ReportFlags) => done(await writeReport(shell, name, flags)));
}

/** Only reads the contest, so that it works while answers or votes are added. */
async function writeReport(shell: Shell, name: string, flags: ReportFlags): Promise<number> {
  const { contests, variants } = await shell.openContests();
  const path = contestPath(shell, contests, name, flags);
  const folder = await contests.open(path, 'read');
  const loaded = await loadContest(folder, { variants });
  const result = arenaReport({ ...loaded, decisions: await readDecisions(folder) });
  const out = flags.out === undefined ? path : resolve(shell.cwd, flags.out);
  // The contest's folder may be a stranger's: a link in place of a report must not lead elsewhere.
  const write = flags.out === undefined ? folder.write : writerIn(shell, out);
  const texts = {
    [REPORT_FILES.markdown]: reportMarkdown(result),
    [REPORT_FILES.json]: reportJson(result),
    [REPORT_FILES.html]: reportHtml(result),
  };
  for (const [file, text] of Object.entries(texts)) await write(file, text);
  if (flags.json) shell.screen.out(`${jsonText(result)}\n`);
  else shell.screen.out(arenaReportText(result));
  shell.screen.err(
    `Written: ${Object.keys(texts)
      .map((file) => join(out, file))
      .join(', ')}\n`,
  );
  return EXIT.done;
}

/** Writes below a folder that the user named. Fault: OUTPUT_UNWRITABLE. */
const writerIn = (shell: Shell, out: string) => async (file: string, text: string) => {
  try {
    await shell.writeText(join(out, file), text);
  } catch (thrown) {
    const { code, message } = asFault(thrown);
    if (code !== 'INTERNAL') throw thrown;
    throw new Fault('OUTPUT_UNWRITABLE', `Cannot write the report into the folder ${out}: ${message}.`, {
      cause: thrown,
    });
  }
};
