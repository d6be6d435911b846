/** Faults of the machine that Runoff runs on. They say nothing about a repository, a candidate or Runoff. */
export type MachineFault = 'DISK_FULL' | 'DISK_FAILING' | 'RESOURCES_EXHAUSTED';

/**
 * How a failing machine is called: by the code of a system error, which Node puts before its message, and by the words
 * with which programs such as git end a line (glibc, sysdeps/gnu/errlist.h). Git has words of its own for a write that
 * took nothing (csum-file.c) and for memory (wrapper.c).
 */
const SIGNS: readonly (readonly [MachineFault, RegExp])[] = [
  ['DISK_FULL', /\b(?:ENOSPC|EDQUOT)\b|no space left|disk quota exceeded|out of disk ?space/i],
  ['DISK_FAILING', /\b(?:EIO|EROFS|EUCLEAN|EBADMSG|ESTALE|EREMOTEIO)\b/],
  [
    'DISK_FAILING',
    /: (?:Input\/output error|Read-only file system|Structure needs cleaning|Bad message|Stale file handle|Remote I\/O error)$/m,
  ],
  ['RESOURCES_EXHAUSTED', /\b(?:EMFILE|ENFILE|ENOMEM)\b|^fatal: Out of memory, \w+ failed/m],
  ['RESOURCES_EXHAUSTED', /: (?:Too many open files(?: in system)?|Cannot allocate memory)$/m],
];

/** What the text of a system error, or of a program on our own files, says about the machine; null: nothing. */
export const machineFaultIn = (text: string): MachineFault | null =>
  SIGNS.find(([, said]) => said.test(text))?.[0] ?? null;
