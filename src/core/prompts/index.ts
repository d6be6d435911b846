export { block, oneLine } from './block.ts';
export { type Seen, seenMarkdown, seenPlain, seenTask } from './seen.ts';
