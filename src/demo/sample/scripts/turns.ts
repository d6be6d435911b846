import type { Turn } from '../../scripted-models/index.ts';

/** Turns in terms of the tools that the built-in coder has. */
export const say = (text: string): Turn => ({ kind: 'text', text });

export const bash = (text: string, command: string): Turn => ({
  kind: 'call',
  text,
  tool: 'bash',
  input: { command },
});

export const write = (text: string, path: string, content: string): Turn => ({
  kind: 'call',
  text,
  tool: 'write',
  input: { path, content },
});

export const edit = (text: string, path: string, old: string, fresh: string): Turn => ({
  kind: 'call',
  text,
  tool: 'edit',
  input: { path, old, new: fresh },
});

export const LOOK = bash(
  'I look at the project first.',
  'ls && cat package.json && cat src/csv.js test/csv.test.js',
);
export const RUN_TESTS = 'node --test 2>&1 | tail -n 12';
export const RUN_BUILD = 'node scripts/build.mjs';
