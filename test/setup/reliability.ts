import { readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import type { Reporter, TestModule } from 'vitest/node';
import { type Row, withRows } from '../world/reliability.ts';

const ROOT = join(import.meta.dirname, '../..');
const DOCUMENT = join(ROOT, 'docs/reliability.md');

/** Writes the lines of docs/reliability.md whose tests ran and passed, all of them; other lines stay as they are. */
export class ReliabilityReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const rows = new Map<string, Row>();
    const failed = new Set<string>();
    for (const module of modules) {
      for (const test of module.children.allTests()) {
        const { tried } = test.meta();
        if (!tried) continue;
        rows.set(tried.id, { ...tried, file: relative(ROOT, module.moduleId) });
        if (!test.ok()) failed.add(tried.id);
      }
    }
    const passed = [...rows.values()].filter(({ id }) => !failed.has(id));
    if (passed.length === 0) return;
    const before = readFileSync(DOCUMENT, 'utf8');
    const after = withRows(before, passed);
    if (after !== before) writeFileSync(DOCUMENT, after);
  }
}
