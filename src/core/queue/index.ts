export { lineOrder, nextInLine, type Placed, type Waiting } from './line.ts';
export { priorityOf } from './priority.ts';
