export {
  CLEAR,
  chosenOf,
  type DecideOptions,
  type Decision,
  decide,
  LIKELY,
  leftToPerson,
  type Picked,
  pickable,
  pickOf,
} from './decision.ts';
