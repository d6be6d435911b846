/** `strategy.matrix` of a CI job, as written in the file. */
export type CiMatrix = Readonly<Record<string, unknown>>;

/** Maximum values of a key that are read. */
const MAX_MATRIX_VALUES = 40;
const OTHER_SYSTEM = /windows|\bwin(?:\d\d)?\b|mac-?os|darwin|msvc|mingw|cygwin/i;

const isTable = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const listed = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [value]);
const textsIn = (value: unknown): readonly string[] =>
  listed(value)
    .filter((one) => typeof one === 'string')
    .slice(0, MAX_MATRIX_VALUES);
const namesOtherSystem = (entry: unknown): boolean =>
  (isTable(entry) ? Object.values(entry) : [entry]).some((one) => OTHER_SYSTEM.test(String(one)));

const entriesOf = ({ include }: CiMatrix): readonly Readonly<Record<string, unknown>>[] =>
  Array.isArray(include) ? include.filter(isTable) : [];

/** All values that a key of the matrix (`node`, `platform.os`) takes, in the entries that count. */
export function matrixValues(
  matrix: CiMatrix,
  path: string,
  counts: (entry: unknown) => boolean = () => true,
): readonly string[] {
  const [key = '', inner] = path.split('.');
  return [matrix, ...entriesOf(matrix).filter(counts)].flatMap((entry) => {
    const value = Object.hasOwn(entry, key) ? entry[key] : undefined;
    if (inner === undefined) return textsIn(value);
    return listed(value)
      .filter((one) => isTable(one) && counts(one))
      .flatMap((one) => textsIn(isTable(one) && Object.hasOwn(one, inner) ? one[inner] : undefined));
  });
}

/**
 * The same on Linux, as far as values and the entries that add them show. With the empty text, which a job has that
 * lacks the key.
 */
export function matrixValuesOnLinux(matrix: CiMatrix, path: string): readonly string[] {
  const values = matrixValues(matrix, path, (entry) => !namesOtherSystem(entry)).filter(
    (value) => !OTHER_SYSTEM.test(value),
  );
  const [key = ''] = path.split('.');
  const { include: _include, exclude: _exclude, ...axes } = matrix;
  const isLacking =
    !Object.hasOwn(axes, key) &&
    (Object.keys(axes).length > 0 || entriesOf(matrix).some((entry) => !Object.hasOwn(entry, key)));
  return values.length > 0 && isLacking ? [...values, ''] : values;
}

/** Only values that are equal in all jobs or are not versions: the sandbox has its own versions. Those on Linux first. */
export function matrixValue(matrix: CiMatrix, path: string): string | null {
  const onLinux = matrixValuesOnLinux(matrix, path).filter((value) => value !== '');
  const values = onLinux.length > 0 ? onLinux : matrixValues(matrix, path);
  return values.length > 1 && values.every((value) => /^\D{0,8}\d/.test(value)) ? null : (values[0] ?? null);
}
