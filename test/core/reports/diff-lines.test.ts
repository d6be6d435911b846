import { expect, test } from 'vitest';
import { diffLineKinds } from '../../../src/core/reports/index.ts';

test('lines of a diff are what their hunk says, whatever they look like', () => {
  const diff = [
    ['diff --git a/x.sql b/x.sql', 'header'],
    ['--- a/x.sql', 'header'],
    ['+++ b/x.sql', 'header'],
    ['@@ -1,3 +1,3 @@ select', 'hunk'],
    [' one', 'context'],
    ['--- a comment', 'removed'],
    ['+++ i', 'added'],
    ['', 'context'],
    ['\\ No newline at end of file', 'context'],
    ['--- a/y', 'header'],
    ['+++ b/y', 'header'],
    ['@@ -1 +1 @@', 'hunk'],
    ['-a', 'removed'],
    ['diff --git a/z b/z', 'header'],
    ['+not in a hunk', 'header'],
    ['@@ without numbers @@', 'hunk'],
    ['-a', 'removed'],
    ['+b', 'added'],
    ['+++c', 'added'],
    ['index 1..2', 'header'],
  ] as const;
  expect(diffLineKinds(diff.map(([line]) => line))).toEqual(diff.map(([, kind]) => kind));
});
