const MOST_OF_A_KIND = 60;
const LONGEST = 40;
const NUMBERS = /(?<![\w.$])\d+(?:\.\d+)?(?![\w.])/g;
const STRINGS = /'((?:[^'\\\n]|\\.)*)'|"((?:[^"\\\n]|\\.)*)"/g;

/**
 * Constants in a text, each whole number with its neighbours: code changes its mind where they are. They come sorted, so
 * that the order of what was written has no effect.
 */
export function constantsIn(text: string): readonly unknown[] {
  const numbers = [...text.matchAll(NUMBERS)].map(([number]) => Number(number)).filter(Number.isSafeInteger);
  const around = numbers.flatMap((number) => [number - 1, number, number + 1]);
  const strings = [...text.matchAll(STRINGS)]
    .map(([, single, double]) => single ?? double ?? '')
    .filter(
      (string) =>
        string !== '' && string.length <= LONGEST && !string.includes('\\') && !/^[.@\w-]*\//.test(string),
    );
  return [
    ...[...new Set(around)].sort((a, b) => a - b).slice(0, MOST_OF_A_KIND),
    ...[...new Set(strings)].sort().slice(0, MOST_OF_A_KIND),
  ];
}
