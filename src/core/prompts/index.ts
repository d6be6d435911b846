export { block, oneLine, type Seen, seenMarkdown, seenPlain, seenTask } from './rendered-text.ts';
