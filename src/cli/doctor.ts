import { jsonText } from './render/index.ts';
import { EXIT, type Finding, type Shell } from './runtime.ts';

const SIGNS = { ok: 'ok  ', warning: 'note', fault: 'FAIL' } as const;

/** `runoff doctor`: what works on this machine, and for each fault what to do. */
export async function examineMachine(shell: Shell, json: boolean): Promise<number> {
  const findings = await shell.doctor();
  const faults = findings.filter((finding) => finding.state === 'fault');
  shell.screen.out(json ? `${jsonText({ findings })}\n` : words(findings, faults.length));
  return faults.length === 0 ? EXIT.done : EXIT.failed;
}

function words(findings: readonly Finding[], faults: number): string {
  const width = Math.max(...findings.map((finding) => finding.name.length));
  const lines = findings.flatMap((finding) => [
    `${SIGNS[finding.state]}  ${finding.name.padEnd(width)}  ${finding.detail}`,
    ...(finding.remedy ? [`      ${' '.repeat(width)}  → ${finding.remedy}`] : []),
  ]);
  const last =
    faults === 0 ? 'Runoff can run here. Next: runoff demo' : `${faults} to mend before Runoff can run here.`;
  return `${[...lines, '', last].join('\n')}\n`;
}
