import { describe, expect, test } from 'vitest';
import { installAgents, listAgents } from '../../src/cli/agents.ts';
import { type AgentRow, type Agents, EXIT, type InstallWish } from '../../src/cli/index.ts';
import { Fault } from '../../src/core/model/index.ts';

const ROWS: readonly AgentRow[] = [
  { name: 'builtin', installed: 'builtin 1', tested: null, protocols: ['anthropic'], experimental: false },
  {
    name: 'codex',
    installed: '0.1.0',
    tested: '0.2.0',
    protocols: ['openai-responses'],
    experimental: false,
  },
  { name: 'pi', installed: null, tested: '3.0.0', protocols: ['anthropic', 'gemini'], experimental: false },
  { name: 'acp', installed: 'acp 1', tested: null, protocols: ['anthropic'], experimental: true },
];

function terminal(install: Agents['install'] = async () => ({ version: '1.2.3', folder: '/agents' })) {
  const said = { out: '', err: '' };
  const interrupts = new Set<() => void>();
  return {
    said,
    interrupt: () => {
      for (const handler of interrupts) handler();
    },
    listening: () => interrupts.size,
    shell: {
      agents: { list: async () => ROWS, install },
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
    expect(said.out).toMatch(/^codex +0\.1\.0 \(tried: 0\.2\.0\) +speaks openai-responses$/m);
    expect(said.out).toMatch(/^pi +not installed +speaks anthropic, gemini$/m);
    expect(said.out).toMatch(/^acp .*experimental$/m);
    expect(said.out).toContain('Next: runoff agents install pi');
  });

  test('as JSON', async () => {
    const { shell, said } = terminal();
    await listAgents(shell, true);
    expect(JSON.parse(said.out)).toEqual({ agents: ROWS });
  });
});

describe('runoff agents install', () => {
  test('installs one after another, with a version where one is named', async () => {
    const wishes: Pick<InstallWish, 'name' | 'version'>[] = [];
    const { shell, said, listening } = terminal(async ({ name, version, onLine }) => {
      wishes.push({ name, ...(version ? { version } : {}) });
      onLine('added 2 packages\u001b[2J');
      return { version: version ?? '9.9.9', folder: '/agents' };
    });
    expect(await installAgents(shell, ['codex', 'pi@1.0.0'], false)).toBe(EXIT.done);
    expect(wishes).toEqual([{ name: 'codex' }, { name: 'pi', version: '1.0.0' }]);
    expect(said.out).toContain('codex 9.9.9 is installed in /agents.');
    expect(said.err).not.toContain('\u001b');
    expect(listening()).toBe(0);
  });

  test('refuses what is no name before anything is fetched', async () => {
    for (const wrong of ['@1.0.0', 'codex@', 'a@b@c']) {
      const { shell } = terminal(() => Promise.reject(new Error('must not be called')));
      await expect(installAgents(shell, [wrong], false)).rejects.toMatchObject({ code: 'AGENT_UNKNOWN' });
    }
  });

  test('ends at the first that fails', async () => {
    const { shell, said } = terminal(({ name }) =>
      Promise.reject(new Fault('AGENT_INSTALL_FAILED', `${name} could not be fetched.`)),
    );
    await expect(installAgents(shell, ['codex', 'pi'], false)).rejects.toMatchObject({
      code: 'AGENT_INSTALL_FAILED',
    });
    expect(said.err).not.toContain('pi:');
  });

  test('an interrupt stops it', async () => {
    const { shell, interrupt } = terminal(
      ({ signal }) =>
        new Promise((_, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason));
        }),
    );
    const ending = installAgents(shell, ['codex'], false);
    interrupt();
    expect(await ending).toBe(EXIT.cancelled);
  });
});
