import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { openBodyBudget, toDrop } from '../../src/server/limits.ts';

describe('the budget of bodies', () => {
  test('never exceeds its limit, whatever is opened, grows, is kept or released', () => {
    const step = fc.record({
      sender: fc.constantFrom('a', 'b', 'c'),
      bytes: fc.integer({ min: 0, max: 60 }),
      body: fc.nat({ max: 5 }),
      how: fc.constantFrom('open', 'hold', 'keep', 'release'),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const budget = openBodyBudget(100);
        const bodies: ReturnType<typeof budget.open>[] = [];
        for (const { sender, bytes, body, how } of steps) {
          if (how === 'open') bodies.push(budget.open(sender, () => undefined));
          else if (how === 'hold') bodies[body]?.hold(bytes);
          else bodies[body]?.[how]();
          expect(budget.held).toBeGreaterThanOrEqual(0);
          expect(budget.held).toBeLessThanOrEqual(100);
        }
        for (const body of bodies) body.release();
        expect(budget.held).toBe(0);
      }),
    );
  });

  test('drops the oldest body of the sender that holds the most, and none of a small sender', () => {
    const budget = openBodyBudget(100);
    const dropped: string[] = [];
    const open = (name: string, bytes: number) => {
      const body = budget.open(name.charAt(0), () => dropped.push(name));
      return { body, held: body.hold(bytes) };
    };
    open('quiet 1', 10);
    for (const n of [1, 2, 3, 4]) open(`flood ${n}`, 22);
    expect(dropped).toEqual([]);
    expect(open('quiet 2', 20).held).toBe(true);
    expect(dropped).toEqual(['flood 1']);
    expect(open('flood 5', 22).held).toBe(true);
    expect(dropped).toEqual(['flood 1', 'flood 2']);
  });

  test('rejects new bodies rather than drop complete ones, until there is room', () => {
    const budget = openBodyBudget(100);
    const arrived = budget.open('a', () => expect.unreachable());
    arrived.hold(90);
    arrived.keep();
    const late = budget.open('b', () => expect.unreachable());
    expect(late.hold(20)).toBe(false);
    expect(late.hold(1)).toBe(false);
    expect(budget.held).toBe(90);
    arrived.release();
    expect(budget.open('b', () => undefined).hold(20)).toBe(true);
  });

  test('drops nothing if nothing can be dropped', () => {
    expect(toDrop([])).toBeNull();
    expect(toDrop([{ sender: 'a', weight: 9, droppable: false }])).toBeNull();
  });
});
