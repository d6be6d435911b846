import { describe, expect, test, vi } from 'vitest';
import { examineMachine, installAgents, listAgents } from '../../src/cli/agents.ts';
import { runCli } from '../../src/cli/index.ts';
import { Fault } from '../../src/core/model/index.ts';
import { type AgentRow, type Agents, EXIT, type InstallRequest, type Shell } from '../../src/shell.ts';
import { partial } from '../world/partial.ts';

const row = (name: string, rest: Partial<AgentRow>): AgentRow => ({
  name,
  from: 'npm',
  installed: null,
  tested: null,
  missingFolder: null,
  protocols: ['anthropic'],
  experimental: false,
  ...rest,
});
const BUILTIN = row('builtin', { from: 'runoff', installed: 'builtin 1' });
const PI = row('pi', { tested: '3.0.0', protocols: ['anthropic', 'gemini'] });
const ACP = row('acp', { from: 'runoff', installed: 'acp 1', experimental: true });
const AIDER = row('aider', { from: 'operator', installed: 'argv 0123' });
const ROWS = [
  BUILTIN,
  row('codex', { installed: '0.1.0', tested: '0.2.0', protocols: ['openai-responses'] }),
  PI,
  ACP,
  AIDER,
  row('mine', { from: 'operator', missingFolder: '/opt/mi\u001b[2Jne' }),
];

const DONE = { version: '1.2.3', folder: '/agents', bytes: 42_400_000 };

function terminal(install: Agents['install'] = async () => DONE, rows = ROWS) {
  const said = { out: '', err: '' };
  const interrupts = new Set<() => void>();
  return {
    said,
    interrupt: () => {
      for (const handler of interrupts) handler();
    },
    listening: () => interrupts.size,
    shell: {
      agents: {
        list: async () => rows,
        check: ({ name }: Pick<InstallRequest, 'name'>) => {
          if (!['codex', 'pi'].includes(name)) throw new Fault('AGENT_UNKNOWN', `There is no ${name}.`);
        },
        install,
      },
      screen: {
        out: (text: string) => {
          said.out += text;
        },
        err: (text: string) => {
          said.err += text;
        },
        outIsTerminal: false,
        width: null,
        colour: false,
        outColour: false,
        live: null,
      },
      onInterrupt(handler: () => void) {
        interrupts.add(handler);
        return () => interrupts.delete(handler);
      },
    },
  };
}

describe('runoff agents', () => {
  test('says of each coder what is installed, what it speaks, and what to type next', async () => {
    const { shell, said } = terminal();
    expect(await listAgents(shell, false)).toBe(EXIT.done);
    expect(said.out).toMatch(/^builtin +builtin 1 +speaks anthropic$/m);
    expect(said.out).toMatch(/^codex +0\.1\.0 \(tested: 0\.2\.0\) +speaks openai-responses$/m);
    expect(said.out).toMatch(/^pi +not installed +speaks anthropic, gemini$/m);
    expect(said.out).toMatch(/^acp .*experimental$/m);
    expect(said.out).toMatch(/^mine +folder \/opt\/mine is missing +speaks anthropic$/m);
    expect(said.out).toContain('--coders builtin,codex,aider\n');
    expect(said.out).not.toContain('Next: runoff agents install');
  });

  test.each([
    ['nothing is installed', [BUILTIN, PI, ACP], 'Next: runoff agents install pi\n'],
    ['only a program of the operator’s is there', [BUILTIN, PI, ACP, AIDER], '--coders builtin,aider\n'],
  ])('if %s, says what to do next', async (_, rows, next) => {
    const { shell, said } = terminal(undefined, rows);
    await listAgents(shell, false);
    expect(said.out.endsWith(next)).toBe(true);
  });

  test('prints JSON', async () => {
    const { shell, said } = terminal();
    await listAgents(shell, true);
    expect(JSON.parse(said.out)).toEqual({ agents: ROWS });
  });
});

describe('runoff agents install', () => {
  test('installs one after another, in the requested version', async () => {
    const wishes: Pick<InstallRequest, 'name' | 'version'>[] = [];
    const { shell, said, listening } = terminal(async ({ name, version, onLine }) => {
      wishes.push({ name, ...(version ? { version } : {}) });
      onLine('added 2 packages\u001b[2J');
      return { ...DONE, version: version ?? '9.9.9' };
    });
    expect(await installAgents(shell, ['codex', 'pi@1.0.0'], false)).toBe(EXIT.done);
    expect(wishes).toEqual([{ name: 'codex' }, { name: 'pi', version: '1.0.0' }]);
    expect(said.out).toContain('Installed codex 9.9.9 in /agents (42 MB).');
    expect(said.err).not.toContain('\u001b');
    expect(listening()).toBe(0);
  });

  test('rejects an invalid name before anything is downloaded', async () => {
    for (const wrong of ['@1.0.0', 'codex@', 'pi@b@c', 'claud-code']) {
      const { shell, said } = terminal(() => Promise.reject(new Error('must not be called')));
      await expect(installAgents(shell, ['codex', wrong], false)).rejects.toMatchObject({
        code: 'AGENT_UNKNOWN',
      });
      expect(said).toEqual({ out: '', err: '' });
    }
  });

  test('reports invalid arguments as bad usage, and a failed download as a failure', async () => {
    const { shell } = terminal(() => Promise.reject(new Fault('AGENT_INSTALL_FAILED', 'No network.')));
    const run = (...words: string[]) =>
      runCli(partial<Shell>({ ...shell, version: '1', cwd: '/' }), ['agents', 'install', ...words]);
    expect(await run('claud-code')).toBe(EXIT.usage);
    expect(await run('codex')).toBe(EXIT.failed);
  });

  test('reports every 10 s that it is still working', async () => {
    vi.useFakeTimers();
    try {
      const { shell, said } = terminal(async () => {
        await new Promise((resolve) => setTimeout(resolve, 25_000));
        return DONE;
      });
      const ending = installAgents(shell, ['pi'], true);
      await vi.advanceTimersByTimeAsync(60_000);
      expect(await ending).toBe(EXIT.done);
      expect(said.err).toBe('pi: installing …\npi: still installing, 10 s\npi: still installing, 20 s\n');
      expect(JSON.parse(said.out)).toEqual({ installed: [{ name: 'pi', ...DONE }] });
      expect(vi.getTimerCount()).toBe(0);
    } finally {
      vi.useRealTimers();
    }
  });

  test('stops at the first failure', async () => {
    const { shell, said } = terminal(({ name }) =>
      Promise.reject(new Fault('AGENT_INSTALL_FAILED', `${name} could not be fetched.`)),
    );
    await expect(installAgents(shell, ['codex', 'pi'], false)).rejects.toMatchObject({
      code: 'AGENT_INSTALL_FAILED',
    });
    expect(said.err).not.toContain('pi:');
  });

  test('stops at an interrupt', async () => {
    const { shell, interrupt } = terminal(
      ({ signal }) =>
        new Promise((_, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason));
        }),
    );
    const ending = installAgents(shell, ['codex'], false);
    interrupt();
    expect(await ending).toBe(EXIT.stopped);
  });
});

test.each([
  [true, 'Runoff can run here. Next: runoff run "Fix the …"\n'],
  [false, 'Runoff can run here. Next: runoff demo\n'],
])('doctor names what can be done next (a provider: %s)', async (hasProvider, last) => {
  const { said, shell } = terminal();
  const found = { name: 'provider anthropic', state: 'ok', detail: '6 models' } as const;
  const doctor = async () => [
    { name: 'git', state: 'ok', detail: '2.39' } as const,
    ...(hasProvider ? [found] : []),
  ];
  expect(await examineMachine(partial<Shell>({ ...shell, doctor }), {})).toBe(EXIT.done);
  expect(said.out.endsWith(last)).toBe(true);
});
