// English texts for open calls that a grant covers. They load with that list, not with the first page.

export const also = {
  "also.title": "Also open, and covered if you allow it for this session",
  "also.note": "Only that button releases those that are ticked.",
  "also.open": "Card",
};
