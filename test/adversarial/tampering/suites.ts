import type { TamperingKind } from '../../../src/core/evidence/index.ts';
import type { Tree } from '../../core/git.ts';

/** One way to make tests say less: the tree before and after, and the name by which it must be found. */
export interface Trick {
  readonly name: string;
  readonly kind: TamperingKind;
  readonly before: Tree;
  readonly after: Tree;
}

/** A trick inside of one file, as a replacement of text in it. */
export const within = (
  name: string,
  kind: TamperingKind,
  path: string,
  before: string,
  from: string,
  to: string,
): Trick => {
  if (!before.includes(from)) throw new Error(`${name}: the text to replace is not there`);
  return { name, kind, before: { [path]: before }, after: { [path]: before.replace(from, () => to) } };
};

/** Lines that are added to a file of production code. */
export const adding = (name: string, kind: TamperingKind, path: string, lines: string): Trick => ({
  name,
  kind,
  before: { [path]: 'first\n' },
  after: { [path]: `first\n${lines}\n` },
});

export const VITEST = `import { describe, expect, test } from 'vitest';
import { add, div } from '../src/add.ts';

describe('add', () => {
  test('adds', async () => {
    const sum = add(1, 2);
    expect(sum).toBe(3);
    expect(add(0, 0)).toBe(0);
  });

  test('rejects text', async () => {
    await expect(load('x')).rejects.toThrow('no number');
  });

  test.each([
    [1, 1, 2],
    [2, 2, 4],
    [3, 3, 6],
  ])('%i + %i', (a, b, expected) => {
    expect(add(a, b)).toBe(expected);
  });
});

test('divides', () => {
  const expected = [0.3333, 0.6667];
  expect(div(1, 3)).toBeCloseTo(0.33333, 5);
  expect(all()).toEqual({ id: 7, name: 'x', parts: ['a', 'b'] });
  expect(list()).toEqual(expected);
});
`;

export const NODE = `import assert from 'node:assert/strict';
import test from 'node:test';
import { add } from './add.js';

test('adds', (t) => {
  assert.equal(add(1, 2), 3);
  assert.throws(() => add('1'), /number/);
});

test('subtracts', async (t) => {
  t.assert.deepEqual(await sub(3, 2), { value: 1 });
});
`;

export const MOCHA = `const { expect } = require('chai');
const { add } = require('../lib/add');

describe('add', function () {
  it('adds', function () {
    expect(add(1, 2)).to.equal(3);
    expect(add(0.1, 0.2)).to.be.closeTo(0.3, 0.001);
  });
  it('keeps order', function () {
    expect(order()).to.deep.equal(['a', 'b']);
  });
});
`;

export const TAPE = `const test = require('tape');
const add = require('../add');

test('adds', (t) => {
  t.plan(2);
  t.equal(add(1, 2), 3);
  t.deepEqual(add([1], [2]), [1, 2]);
});
`;

export const PYTEST = `import pytest
from calc import add, div


@pytest.mark.parametrize(
    "a, b, total",
    [
        (1, 1, 2),
        (2, 2, 4),
        (3, 3, 6),
    ],
)
def test_table(a, b, total):
    assert add(a, b) == total


def test_adds():
    assert add(1, 2) == 3
    assert add(0, 0) == 0, "zero"


def test_divides():
    assert div(1, 3) == pytest.approx(0.3333, rel=1e-3)
    with pytest.raises(ZeroDivisionError, match="zero"):
        div(1, 0)
`;

export const UNITTEST = `import unittest
from calc import add


class AddTests(unittest.TestCase):
    def test_adds(self):
        self.assertEqual(add(1, 2), 3)
        self.assertAlmostEqual(add(0.1, 0.2), 0.3, places=7)

    def test_order(self):
        self.assertEqual(add(2, 1), add(1, 2))
        self.assertIn("x", names())
`;

export const GO = `package calc

import "testing"

func TestAdd(t *testing.T) {
	cases := []struct {
		name string
		a, b int
		want int
	}{
		{"one", 1, 1, 2},
		{"two", 2, 2, 4},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got := Add(c.a, c.b); got != c.want {
				t.Errorf("Add() = %d, want %d", got, c.want)
			}
		})
	}
}

func TestSub(t *testing.T) {
	if Sub(3, 2) != 1 {
		t.Fatal("wrong")
	}
}
`;

export const TESTIFY = `package calc

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestAdd(t *testing.T) {
	assert.Equal(t, 3, Add(1, 2))
	assert.InDelta(t, 0.3, AddF(0.1, 0.2), 0.001)
}
`;

export const RUST = `use calc::add;

#[test]
fn adds() {
    assert_eq!(add(1, 2), 3);
    assert!(add(0, 0) == 0, "zero");
}

#[test]
#[should_panic(expected = "overflow")]
fn overflows() {
    add(u8::MAX, 1);
}
`;

export const JUNIT = `package org.example;

import static org.junit.jupiter.api.Assertions.*;

class AddTest {
    @Test
    void adds() {
        assertEquals(3, Calc.add(1, 2));
        assertEquals(0.3, Calc.add(0.1, 0.2), 0.0001);
    }

    @ParameterizedTest
    @CsvSource({
        "1, 1, 2",
        "2, 2, 4",
    })
    void table(int a, int b, int total) {
        assertThat(Calc.add(a, b)).isEqualTo(total);
    }
}
`;

export const RSPEC = `require 'spec_helper'

RSpec.describe Calc do
  it 'adds' do
    expect(Calc.add(1, 2)).to eq(3)
    expect(Calc.names).to eq %w[a b]
  end

  it 'divides' do
    expect(Calc.div(1, 3)).to be_within(0.001).of(0.333)
  end
end
`;

export const MINITEST = `class CalcTest < Minitest::Test
  def test_adds
    assert_equal 3, Calc.add(1, 2)
    assert_in_delta 0.3, Calc.add(0.1, 0.2), 0.001
  end
end
`;

export const XUNIT = `public class AddTests
{
    [Theory]
    [InlineData(1, 1, 2)]
    [InlineData(2, 2, 4)]
    public void Table(int a, int b, int total)
    {
        Assert.Equal(total, Calc.Add(a, b));
    }

    [Fact]
    public void Adds()
    {
        Assert.Equal(3, Calc.Add(1, 2));
        Assert.Throws<ArgumentException>(() => Calc.Add(null));
    }
}
`;

export const PHPUNIT = `<?php
final class AddTest extends TestCase
{
    public function testAdds(): void
    {
        $this->assertSame(3, Calc::add(1, 2));
        $this->assertEqualsWithDelta(0.3, Calc::add(0.1, 0.2), 0.001);
    }
}
`;
