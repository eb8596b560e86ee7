// The parts that draw and edit plans are chunks of their own: most cards are about something else.

export const loadPlanOfCard = () => import("./PlanOfCard.svelte");
export const loadPlanEdited = () => import("./PlanEdited.svelte");
