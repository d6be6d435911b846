export { PERSONA_NAME, type Persona, type Personas, parsePersona } from './persona.ts';
