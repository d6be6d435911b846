/** Faults of the machine on which Runoff runs. They reveal nothing about a repository, a candidate or Runoff. */
type MachineFault = 'DISK_FULL' | 'DISK_FAILING' | 'RESOURCES_EXHAUSTED';

/**
 * Recognizes a failing machine: by the code of a system error, which Node puts before its message, and by the
 * messages with which programs such as git end a line (glibc, sysdeps/gnu/errlist.h). Git has its own messages for an
 * empty write (csum-file.c) and for memory (wrapper.c), and dash for a process that it could not create (`Cannot fork`).
 */
const SIGNS: readonly (readonly [MachineFault, RegExp])[] = [
  ['DISK_FULL', /\b(?:ENOSPC|EDQUOT)\b|no space left|disk quota exceeded|out of disk ?space/i],
  ['DISK_FAILING', /\b(?:EIO|EROFS|EUCLEAN|EBADMSG|ESTALE|EREMOTEIO)\b/],
  [
    'DISK_FAILING',
    /: (?:Input\/output error|Read-only file system|Structure needs cleaning|Bad message|Stale file handle|Remote I\/O error)$/m,
  ],
  ['RESOURCES_EXHAUSTED', /\b(?:EMFILE|ENFILE|ENOMEM|EAGAIN)\b|^fatal: Out of memory, \w+ failed/m],
  [
    'RESOURCES_EXHAUSTED',
    /: (?:Too many open files(?: in system)?|Cannot allocate memory|Resource temporarily unavailable|Cannot fork)$/m,
  ],
];

/** The machine's fault according to a system error, or the output of a program on Runoff's files; null for none. */
export const machineFaultIn = (text: string): MachineFault | null =>
  SIGNS.find(([, said]) => said.test(text))?.[0] ?? null;

/**
 * The ends of lines, and the starts of lines of git and Node, by which a program says that the machine failed it. Only
 * a line feed ends a line: a program may quote content with any other separator.
 */
const MACHINE_LINE =
  /: (?:No space left on device|Disk quota exceeded|Input\/output error|Too many open files(?: in system)?|Cannot allocate memory|Resource temporarily unavailable|Cannot fork)(?![^\n])|\. Out of diskspace(?![^\n])|(?<![^\n])fatal: Out of memory, \w+ failed|(?<![^\n])Error: (?:spawn \S+ )?(?:ENOSPC|EDQUOT|EIO|EMFILE|ENFILE|ENOMEM|EAGAIN)\b/;

/**
 * The machine's fault according to a program of Runoff's own that reads what a candidate wrote, and the words that say
 * so; null for none. Its messages may contain names from there, so only whole ends and starts of lines count. A name
 * may contain line breaks as well: the words prove nothing if a name contains them.
 */
export function machineWordsIn(
  stderr: string,
): { readonly code: MachineFault; readonly words: string } | null {
  const [found = ''] = MACHINE_LINE.exec(stderr) ?? [];
  const code = machineFaultIn(found);
  return code === null ? null : { code, words: found.replace(/^[:.] /, '') };
}

/** The same for a program whose whole input is known. */
export function machineFaultOn(stderr: string, given: string): MachineFault | null {
  const found = machineWordsIn(stderr);
  return found === null || given.includes(found.words) ? null : found.code;
}

/**
 * The machine's fault according to the last line of git's standard error. Where git reads content of a candidate, only
 * that line is certain to be git's own: it says why git ended, after messages that may quote the content.
 */
export const machineFaultInLastLine = (stderr: string): MachineFault | null =>
  machineFaultIn(stderr.trimEnd().split('\n').at(-1) ?? '');
