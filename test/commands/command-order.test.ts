import { expect, test } from 'vitest';
import { isLater } from '../../src/commands/context.ts';
import { mona, placeAt } from './dialogue-world.ts';

const said = (comment: number, at: number, on: 'conversation' | 'line' = 'conversation') => ({
  id: `${on}:${comment}`,
  place: placeAt(comment, { on }),
  by: { id: mona.id, login: mona.login },
  text: '/auto-dev pick B',
  at,
});

test('of two commands the one with the later timestamp is later, within one second the one with the greater id', () => {
  expect(isLater(said(1, 2_000), said(9, 1_000))).toBe(true);
  expect(isLater(said(9, 1_000), said(1, 2_000))).toBe(false);
  expect(isLater(said(9, 1_000), said(1, 1_000))).toBe(true);
  expect(isLater(said(1, 1_000), said(9, 1_000))).toBe(false);
  expect(isLater(said(1, 1_000), said(1, 1_000))).toBe(false);
});

test('ids of line comments are not compared with those of the conversation: within one second neither is later', () => {
  expect(isLater(said(9, 1_000), said(1, 1_000, 'line'))).toBe(false);
  expect(isLater(said(9, 1_000, 'line'), said(1, 1_000))).toBe(false);
  expect(isLater(said(1, 2_000, 'line'), said(9, 1_000))).toBe(true);
  expect(isLater(said(9, 1_000, 'line'), said(1, 1_000, 'line'))).toBe(true);
});
