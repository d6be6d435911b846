/**
 * Milliseconds of processor time of this process since `began`, a `process.cpuUsage()`: unlike the time of a clock, it
 * does not grow with what else the machine does.
 */
export function cpuMsSince(began: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(began);
  return (user + system) / 1_000;
}
