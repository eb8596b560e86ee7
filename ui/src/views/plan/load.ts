// Loads the parts that draw and edit plans. They are chunks of their own, because most cards have no plan.

export const loadPlanOfCard = () => import("./PlanOfCard.svelte");
export const loadPlanEdited = () => import("./PlanEdited.svelte");
