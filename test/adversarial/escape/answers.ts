/**
 * How a backend says no, where more than one answer holds an attack. What must be true in any backend stands in the
 * tests; here stands the exact form of it.
 */
export interface Answers {
  readonly name: string;
}
export const BUBBLEWRAP: Answers = { name: 'bubblewrap' };
export const CONTAINER: Answers = { name: 'container' };
