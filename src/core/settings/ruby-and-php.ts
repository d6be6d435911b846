import { z } from 'zod';
import { fillCaches } from './compiled-ecosystems.ts';
import { readJsonWithComments } from './last-resorts.ts';
import { nodeInstall } from './node-managers.ts';
import { readPackage } from './package-scripts.ts';
import type { Ecosystem, RepositorySnapshot } from './repository-recipe.ts';

/** What a Rakefile that defines a task `test`, or loads tasks from elsewhere, contains. */
const RAKE_TEST = /\btests?\b|TestTask|\bHoe\b|\b(?:load|load_tasks|import|require_relative)\b/;

export function ruby({ files, read }: RepositorySnapshot): Ecosystem | null {
  if (!files.has('Gemfile')) return null;
  const all = [...files];
  const specs = files.has('.rspec') || all.some((path) => /^spec\/.*_spec\.rb$/.test(path));
  const rake =
    files.has('Rakefile') &&
    (all.some((path) => path.endsWith('.rake')) || RAKE_TEST.test(read.Rakefile ?? 'test'));
  const test = specs ? 'bundle exec rspec' : rake ? 'bundle exec rake test' : null;
  if (test === null) return null;
  const bundle = 'bundle config set --local path vendor/bundle && bundle install';
  // Before tests, Rails builds the assets of such an application, and the tests have no network.
  const needsPackages =
    files.has('config/application.rb') &&
    /^\s*gem ['"](?:js|css)bundling-rails['"]/m.test(read.Gemfile ?? '');
  const facts = needsPackages ? readPackage(read['package.json'] ?? '') : null;
  const setup = facts ? `${bundle} && ${nodeInstall(facts, files)}` : bundle;
  // An extension in C, which the tests load.
  const build =
    files.has('Rakefile') && all.some((path) => /^ext\/.*extconf\.rb$/.test(path))
      ? 'bundle exec rake compile'
      : null;
  return build === null
    ? { file: 'Gemfile', setup, test }
    : { file: 'Gemfile', setup: `${setup} && ${fillCaches(build)}`, build, test };
}

const PHPUNIT_FILES = ['phpunit.xml', 'phpunit.xml.dist', 'phpunit.dist.xml'];
const COMPOSER_INSTALL = 'composer install --no-interaction --no-progress';

/** An application of Laravel keeps no settings in the repository, and without a key of its own it serves nothing. */
const LARAVEL_SETTINGS = '{ test -f .env || cp .env.example .env; } && php artisan key:generate --force';

export function php(repository: RepositorySnapshot): Ecosystem | null {
  const { files } = repository;
  const found = files.has('composer.json') ? phpTest(repository) : null;
  if (found === null) return null;
  const isLaravel = files.has('artisan') && files.has('.env.example') && !files.has('.env');
  const { loads, ...test } = found;
  const setup = [
    COMPOSER_INSTALL,
    ...(isLaravel ? [LARAVEL_SETTINGS] : []),
    // Whatever it is asked for, such a program first downloads PHPUnit.
    ...(loads ? [`{ ${test.test} --version || true; }`] : []),
  ].join(' && ');
  return { file: 'composer.json', setup, ...test };
}

const ScriptText = z.union([z.string().transform((one) => [one]), z.array(z.string())]);
const ComposerFile = z.object({
  scripts: z.record(z.string(), z.unknown()),
  config: z.object({ 'bin-dir': z.string().optional() }).catch({}),
});

/**
 * The commands of a script of composer.json, for a PATH with `vendor/bin`; null for none, and for one that only
 * Composer can run.
 */
export function composerScript(name: string, manifest: string): readonly string[] | null {
  const { scripts = {}, config } = ComposerFile.safeParse(readJsonWithComments(manifest)).data ?? {};
  const lines = Object.hasOwn(scripts, name) ? ScriptText.safeParse(scripts[name]).data : undefined;
  const commands = lines
    ?.filter((line) => !line.startsWith('Composer\\Config::'))
    .map((line) =>
      line.replace(/^@(?=(?:php|composer)(?:\s|$))/, '').replace(/^@(?!putenv)(?=[\w:-]+$)/, 'composer '),
    );
  const isPlain = config?.['bin-dir'] === undefined && commands?.every((line) => !ONLY_COMPOSER.test(line));
  return commands && commands.length > 0 && isPlain ? commands : null;
}

/** Another way to start a script, a function of PHP, or a word that Composer replaces by words of its caller. */
const ONLY_COMPOSER = /^@|^[\w\\]+::\w+$|\s@(?:no_)?additional_args\b/;

/** `loads`: the program downloads PHPUnit when it is first started. */
interface PhpTest extends Pick<Ecosystem, 'test' | 'guessed'> {
  readonly loads?: boolean;
}

/** Older packages expect the machine to have PHPUnit, and do not require it. PHPUnit does not run tests of Pest. */
function phpTest({ files, read }: RepositorySnapshot): PhpTest | null {
  const manifest = read['composer.json'];
  const requires =
    manifest === undefined ||
    /"(?!symfony\/phpunit-bridge"|(?:phpstan|psalm|rector)\/)[\w.-]+\/(?:[\w.-]*phpunit|pest)[\w.-]*"\s*:/i.test(
      manifest,
    );
  const pest = files.has('tests/Pest.php') || /"pestphp\/pest"\s*:\s*"/.test(manifest ?? '');
  if (PHPUNIT_FILES.some((path) => files.has(path))) {
    if (pest) return { test: files.has('bin/pest') ? 'php bin/pest' : 'vendor/bin/pest' };
    if (requires) return { test: 'vendor/bin/phpunit' };
    const own = ['phpunit', 'bin/phpunit'].find((path) => files.has(path));
    if (own !== undefined) return { test: `php ${own}`, loads: true };
    const hasBridge = /"symfony\/phpunit-bridge"\s*:/.test(manifest ?? '');
    return hasBridge ? { test: 'vendor/bin/simple-phpunit', loads: true } : { test: 'phpunit' };
  }
  // Without a configuration of PHPUnit at the top, its script says how to test.
  if (/"scripts"\s*:\s*\{[^{}]*"test"\s*:/.test(manifest ?? '')) return { test: 'composer test' };
  const hasTests = [...files].some((path) => /^tests\/(?:.*\/)?\w*Test\.php$/.test(path));
  return manifest !== undefined && requires && !pest && hasTests
    ? { test: 'vendor/bin/phpunit tests', guessed: true }
    : null;
}
