// Loads the components that show and edit plans. They are in separate chunks, because most cards have no plan.

export const loadPlanOfCard = () => import("./PlanOfCard.svelte");
export const loadPlanEdited = () => import("./PlanEdited.svelte");
