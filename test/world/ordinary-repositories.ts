/**
 * Small repositories as people have them, at least one for each ecosystem: no settings, no dependencies, and one bug. Each
 * limits a number to a range and forgets the upper end.
 */
export interface OrdinaryRepository {
  readonly name: string;
  /** Programs without which it cannot be tried on this machine, each as a command that shows that it is there. */
  readonly needs: readonly string[];
  readonly files: Readonly<Record<string, string>>;
  /** The file with the bug, and its line. */
  readonly source: string;
  readonly bug: string;
  /** Its replacements: the fix, a wrong one, and a change that breaks what works. */
  readonly fix: string;
  readonly wrong: string;
  readonly breaks: string;
  /** The test that comes with the fix: it stands in place of the line in the file of the tests. */
  readonly test: { readonly file: string; readonly before: string; readonly after: string };
  /** Number of tests that pass on the base; null: their runner writes no report that is read. */
  readonly passes: number | null;
}

const JS_SOURCE = `export function clamp(value, low, high) {
  if (value < low) return low;
  return value;
}

export const inside = (value, low, high) => clamp(value, low, high) === value;
`;
const JS_TESTS = `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clamp } from '../src/clamp.js';

test('keeps a value in the range', () => assert.equal(clamp(3, 1, 5), 3));
test('raises a small value', () => assert.equal(clamp(0, 1, 5), 1));
// more
`;
const JS = {
  source: 'src/clamp.js',
  bug: '  return value;',
  fix: '  return value > high ? high : value;',
  wrong: '  return value > high ? low : value;',
  breaks: '  return high;',
  test: {
    file: 'test/clamp.test.js',
    before: '// more',
    after: "test('lowers a big value', () => assert.equal(clamp(9, 1, 5), 5));",
  },
} as const;

const npm: OrdinaryRepository = {
  name: 'npm with node:test',
  needs: [],
  files: {
    'package.json': '{ "name": "clamp", "type": "module", "scripts": { "test": "node --test" } }\n',
    'src/clamp.js': JS_SOURCE,
    'test/clamp.test.js': JS_TESTS,
  },
  ...JS,
  passes: 2,
};

const composite: OrdinaryRepository = {
  name: 'npm with a linter that fails before the tests',
  needs: [],
  files: {
    'package.json': `{
  "name": "clamp", "type": "module",
  "scripts": { "test": "npm run lint && npm run unit", "lint": "node lint.js", "unit": "node --test" }
}
`,
    'lint.js': `import { readFileSync } from 'node:fs';
const long = readFileSync('src/clamp.js', 'utf8').split('\\n').filter((line) => line.length > 60);
if (long.length > 0) {
  console.error(long.length + ' lines are too long');
  process.exit(1);
}
`,
    'src/clamp.js': JS_SOURCE,
    'test/clamp.test.js': JS_TESTS,
  },
  ...JS,
  passes: 2,
};

const python: OrdinaryRepository = {
  name: 'Python with a src layout, tested by unittest in CI',
  needs: ['/usr/bin/python3 -c "import ensurepip, venv"'],
  files: {
    'pyproject.toml': `[build-system]
requires = ["setuptools"]
build-backend = "setuptools.build_meta"

[project]
name = "ranges"
version = "1.0.0"

[tool.setuptools.packages.find]
where = ["src"]
`,
    '.github/workflows/ci.yml': `on: push
jobs:
  test:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - run: python -m pip install -e .
      - run: python -m unittest discover -s tests -v
`,
    'src/ranges/__init__.py': `def clamp(value, low, high):
    if value < low:
        return low
    return value
`,
    'tests/test_clamp.py': `import unittest

from ranges import clamp


class TestClamp(unittest.TestCase):
    def test_keeps_a_value_in_the_range(self):
        self.assertEqual(clamp(3, 1, 5), 3)

    def test_raises_a_small_value(self):
        self.assertEqual(clamp(0, 1, 5), 1)

    # more
`,
  },
  source: 'src/ranges/__init__.py',
  bug: '    return value',
  fix: '    return high if value > high else value',
  wrong: '    return low if value > high else value',
  breaks: '    return high',
  test: {
    file: 'tests/test_clamp.py',
    before: '# more',
    after: 'def test_lowers_a_big_value(self):\n        self.assertEqual(clamp(9, 1, 5), 5)',
  },
  passes: 2,
};

const go: OrdinaryRepository = {
  name: 'a Go module',
  needs: ['go version'],
  files: {
    'go.mod': 'module example.org/ranges\n\ngo 1.18\n',
    'clamp.go': `package ranges

// Clamp limits a value to a range.
func Clamp(value, low, high int) int {
	if value < low {
		return low
	}
	return value
}
`,
    'clamp_test.go': `package ranges

import "testing"

func TestKeepsAValueInTheRange(t *testing.T) {
	if Clamp(3, 1, 5) != 3 {
		t.Error("3 changed")
	}
}

func TestRaisesASmallValue(t *testing.T) {
	if Clamp(0, 1, 5) != 1 {
		t.Error("0 was not raised")
	}
}

// more
`,
  },
  source: 'clamp.go',
  bug: '	return value',
  fix: '	if value > high {\n		return high\n	}\n	return value',
  wrong: '	if value > high {\n		return low\n	}\n	return value',
  breaks: '	return high',
  test: {
    file: 'clamp_test.go',
    before: '// more',
    after:
      'func TestLowersABigValue(t *testing.T) {\n	if Clamp(9, 1, 5) != 5 {\n		t.Error("9 was not lowered")\n	}\n}',
  },
  passes: 2,
};

const goWithoutModules: OrdinaryRepository = {
  ...go,
  name: 'Go code from before modules, whose tests import it by its path',
  files: {
    'README.md': '# ranges\n\n    go get example.org/ranges\n',
    'clamp.go': go.files['clamp.go'] ?? '',
    'clamp_test.go': (go.files['clamp_test.go'] ?? '')
      .replace('package ranges', 'package ranges_test')
      .replace('import "testing"', 'import (\n\t"testing"\n\n\t. "example.org/ranges"\n)'),
  },
};

const c: OrdinaryRepository = {
  name: 'C with a makefile, CMake and ctest',
  needs: ['make --version', 'cmake --version', 'ctest --version', 'cc --version'],
  files: {
    '.gitignore': 'build/\n',
    Makefile: `.PHONY: test build
test: build
	ctest --test-dir build --output-on-failure

build:
	cmake -S . -B build
	cmake --build build
`,
    'CMakeLists.txt': `cmake_minimum_required(VERSION 3.10)
project(ranges C)
enable_testing()
add_library(ranges clamp.c)
foreach(name keeps raises) # more
  add_executable(\${name} test/\${name}.c)
  target_link_libraries(\${name} ranges)
  add_test(NAME \${name} COMMAND \${name})
endforeach()
`,
    'clamp.h': 'int clamp(int value, int low, int high);\n',
    'clamp.c': `#include "clamp.h"

int clamp(int value, int low, int high) {
  (void)high;
  if (value < low) return low;
  return value;
}
`,
    'test/keeps.c': '#include "../clamp.h"\nint main(void) { return clamp(3, 1, 5) == 3 ? 0 : 1; }\n',
    'test/raises.c': '#include "../clamp.h"\nint main(void) { return clamp(0, 1, 5) == 1 ? 0 : 1; }\n',
  },
  source: 'clamp.c',
  bug: '  return value;',
  fix: '  return value > high ? high : value;',
  wrong: '  return value > high ? low : value;',
  breaks: '  return high;',
  test: {
    file: 'test/raises.c',
    before: 'return clamp(0, 1, 5) == 1 ? 0 : 1;',
    after: 'return clamp(0, 1, 5) == 1 && clamp(9, 1, 5) == 5 ? 0 : 1;',
  },
  passes: 2,
};

const rust: OrdinaryRepository = {
  name: 'a Rust crate',
  needs: ['cargo --version'],
  files: {
    '.gitignore': '/target\n',
    'Cargo.toml': '[package]\nname = "ranges"\nversion = "1.0.0"\nedition = "2021"\n',
    'Cargo.lock':
      '# This file is automatically @generated by Cargo.\nversion = 3\n\n[[package]]\nname = "ranges"\nversion = "1.0.0"\n',
    'src/lib.rs': `pub fn clamp(value: i64, low: i64, high: i64) -> i64 {
    if value < low {
        return low;
    }
    let _ = high;
    value
}
`,
    'tests/clamp.rs': `use ranges::clamp;

#[test]
fn keeps_a_value_in_the_range() {
    assert_eq!(clamp(3, 1, 5), 3);
}

#[test]
fn raises_a_small_value() {
    assert_eq!(clamp(0, 1, 5), 1);
}

// more
`,
  },
  source: 'src/lib.rs',
  bug: '    value\n',
  fix: '    if value > high { high } else { value }\n',
  wrong: '    if value > high { low } else { value }\n',
  breaks: '    high\n',
  test: {
    file: 'tests/clamp.rs',
    before: '// more',
    after: '#[test]\nfn lowers_a_big_value() {\n    assert_eq!(clamp(9, 1, 5), 5);\n}',
  },
  passes: 2,
};

export const ORDINARY: readonly OrdinaryRepository[] = [
  npm,
  composite,
  python,
  go,
  goWithoutModules,
  c,
  rust,
];
