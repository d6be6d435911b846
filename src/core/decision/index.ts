export { CLEAR, type DecideOptions, type Decision, decide, LIKELY, type Picked, pickOf } from './decision.ts';
export { chosenOf, leftToPerson, pickable } from './picks.ts';
