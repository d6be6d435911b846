import { FOR_DEVELOPMENT } from './python-project.ts';
import { ENOUGH, MAKE_VENV, PYTEST_TOO, VENV } from './python-setup.ts';

/** The repository itself as an argument of pip, with or without extras. */
const SELF = / -e (?:'\.(?:\[[^\]']*\])?'|"\.(?:\[[^\]"]*\])?"|\.(?:\[\S*\])?)(?=[\s;]|$)/;
/** A set-up that installs the project itself and nothing else. */
const ONLY_SELF =
  /^(?:PATH=\S+ )?python3 -m venv --system-site-packages \.venv && (?:\{ )?\.venv\/bin\/python -m pip install -e \S+?(?: \|\| [^;&|]+)?(?:; \})?$/;

/** A set-up command without the project itself, so with its lists alone; null if it does not install the project. */
export function setupWithoutSelf(setup: string): string | null {
  if (setup.endsWith(PYTEST_TOO)) {
    const others = setupWithoutSelf(setup.slice(0, -PYTEST_TOO.length));
    return others === null ? null : `${others}${PYTEST_TOO}`;
  }
  const without = setup.replace(SELF, '');
  if (without === setup) return null;
  // Without an argument, pip has nothing to install: the packages of the machine may suffice.
  const isEmpty = /\bpip install(?: --\w[\w-]*)*\s*(?:&&|\|\||;|\}|$)/.test(without);
  if (!isEmpty) return without;
  return ONLY_SELF.test(setup) ? MAKE_VENV : null;
}

/**
 * The project itself without its extras, whose packages cannot be had; only without the one for development, if pip's
 * output says that it is the one. Null if it installs none.
 */
export function setupWithoutExtras(setup: string, output: string): string | null {
  const [self = ''] = SELF.exec(setup) ?? [];
  const extras = /\[([^\]]*)\]/.exec(self)?.[1]?.split(',');
  if (extras === undefined) return null;
  const missing = /; extra == ["']([\w.-]+)["']/.exec(output)?.[1] ?? '';
  const left = FOR_DEVELOPMENT.test(missing) ? extras.filter((name) => name !== missing) : [];
  return setup.replace(self, () => self.replace(/\[[^\]]*\]/, left.length > 0 ? `[${left.join(',')}]` : ''));
}

/** Folders of every sandbox, without those of the Python that was chosen for the repository. */
const MACHINE_PATH = 'PATH=/usr/local/bin:/usr/bin:/bin';

/** The same with the machine's own Python, for which there may be packages that the chosen one lacks; null without one. */
export const setupWithMachinePython = (setup: string): string | null =>
  setup.startsWith(MAKE_VENV) ? `${MACHINE_PATH} ${setup}` : null;

/** What `ENOUGH` prints, of pytest 6 and older too. */
const PYTEST_OF_MACHINE = /^(?:pytest|This is pytest version) \d/m;

/**
 * pip's words for a failed install, of a set-up that then makes do with the pytest of the machine; null: there are none.
 * pip also calls an error what only warns of conflicts with packages of the machine.
 */
export const failureOfPip = (setup: string, output: string): string | null =>
  setup.includes(ENOUGH) && PYTEST_OF_MACHINE.test(output) && /^ERROR: /m.test(output) ? output : null;

/**
 * A set-up command whose packages require another version of the project itself, as pytest does of its own
 * dependencies: in a checkout without tags, a version that is made of tags is too small. The project is installed for
 * its dependencies first, then the packages, which may replace it, then the project in place of what they brought.
 * Null if it does not install both.
 */
export function setupWithSelfLast(setup: string): string | null {
  const [self] = SELF.exec(setup) ?? [];
  const others = setupWithoutSelf(setup);
  if (self === undefined || others === null || !others.startsWith(`${MAKE_VENV} && `)) return null;
  const install = `${VENV} -m pip install`;
  return `${others.replace(MAKE_VENV, () => `${MAKE_VENV} && ${install}${self}`)} && ${install} --no-deps${self}`;
}
