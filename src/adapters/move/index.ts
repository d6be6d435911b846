export { type MovedTable, type MoveOptions, moveDatabase } from './move.ts';
