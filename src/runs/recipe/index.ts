export { type CheckBasePorts, checkBase } from './check-base.ts';
export { type FoundRecipe, findRecipe, type RecipePorts } from './find-recipe.ts';
export { openSuggestions } from './suggest.ts';
