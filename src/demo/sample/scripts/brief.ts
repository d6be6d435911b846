import type { Brief } from '../../../core/model/index.ts';

/** What the scripted planner makes of the issue. */
export const BRIEF: Brief = {
  goal: 'Quoted CSV fields are read as RFC 4180 says, so that notes with commas, quotes and line breaks import.',
  definitionOfDone: [
    'A comma inside a quoted field belongs to the field.',
    'Two quotes inside a quoted field are read as one quote.',
    'A line break inside a quoted field belongs to the field.',
    'Files without quotes are read as before; a row with a wrong number of cells is still refused.',
  ],
  plan: [
    'Write failing tests for the three cases of the issue.',
    'Replace the splitting by lines and commas in src/csv.js with a parser that knows when it is inside quotes.',
    'Run the whole test suite and the build.',
  ],
  files: ['src/csv.js', 'test/csv.test.js'],
  assumptions: ['Spaces around unquoted cells are still trimmed; spaces inside quotes are kept.'],
  questions: [],
};
