/** Faults of the machine on which Runoff runs. They reveal nothing about a repository, a candidate or Runoff. */
export type MachineFault = 'DISK_FULL' | 'DISK_FAILING' | 'RESOURCES_EXHAUSTED';

/**
 * Recognizes a failing machine: by the code of a system error, which Node puts before its message, and by the
 * messages with which programs such as git end a line (glibc, sysdeps/gnu/errlist.h). Git has its own messages for an
 * empty write (csum-file.c) and for memory (wrapper.c).
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

/** The machine's fault according to a system error, or the output of a program on Runoff's files; null for none. */
export const machineFaultIn = (text: string): MachineFault | null =>
  SIGNS.find(([, said]) => said.test(text))?.[0] ?? null;
