/**
 * Output of pytest when a plugin or test module is not installed. A fixed list, so that output cannot name packages.
 */
const PYTHON_TOOLS: readonly (readonly [sign: RegExp, distribution: string])[] = [
  [/No module named '?pytest'?(?![\w.])/, 'pytest'],
  [/unrecognized arguments:[^\n]* --(?:no-)?cov\b/, 'pytest-cov'],
  [/unrecognized arguments:[^\n]* (?:-n\b|--numprocesses|--dist)/, 'pytest-xdist'],
  [/unrecognized arguments:[^\n]* --timeout\b/, 'pytest-timeout'],
  [/unrecognized arguments:[^\n]* --asyncio-mode\b/, 'pytest-asyncio'],
  [/unrecognized arguments:[^\n]* --benchmark/, 'pytest-benchmark'],
  [/unrecognized arguments:[^\n]* --reruns\b/, 'pytest-rerunfailures'],
  [/fixture 'mocker' not found/, 'pytest-mock'],
  [/fixture 'benchmark' not found/, 'pytest-benchmark'],
  [/fixture 'httpbin' not found/, 'pytest-httpbin'],
  [/Unknown config option: asyncio_mode|async def functions are not natively supported/, 'pytest-asyncio'],
  ...Object.entries({
    attr: 'attrs',
    coverage: 'coverage',
    dateutil: 'python-dateutil',
    distutils: 'setuptools',
    flask: 'flask',
    freezegun: 'freezegun',
    hypothesis: 'hypothesis',
    jinja2: 'jinja2',
    mock: 'mock',
    nose: 'nose',
    numpy: 'numpy',
    parameterized: 'parameterized',
    PIL: 'pillow',
    pkg_resources: 'setuptools<81',
    pretend: 'pretend',
    pytest_asyncio: 'pytest-asyncio',
    pytest_mock: 'pytest-mock',
    pytz: 'pytz',
    requests: 'requests',
    requests_mock: 'requests-mock',
    responses: 'responses',
    setuptools: 'setuptools',
    six: 'six',
    toml: 'toml',
    tomli: 'tomli',
    trio: 'trio',
    trustme: 'trustme',
    typing_extensions: 'typing-extensions',
    yaml: 'pyyaml',
  }).map(
    ([name, distribution]) => [RegExp(`No module named '${name}(?:\\.[\\w.]+)?'`), distribution] as const,
  ),
];

/** Packages whose absence the output of pytest shows. */
export const missingPythonPackages = (output: string): readonly string[] => [
  ...new Set(PYTHON_TOOLS.flatMap(([sign, name]) => (sign.test(output) ? [name] : []))),
];
