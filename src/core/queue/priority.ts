/**
 * What goes before what in the line of runs; 0 comes first. A person who asks by a command is there and waits; a label may
 * be one of two hundred. A run of the command line has a process of its own, and waits for nobody.
 */
export const priorityOf = (trigger: 'label' | 'command' | 'local'): number => (trigger === 'label' ? 1 : 0);
