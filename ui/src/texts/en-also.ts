// English, of open calls that a grant covers. Comes with their list, not with the first load.

export const also = {
  "also.title": "Also open, and covered if you allow it for this session",
  "also.note": "Only that button releases those that are ticked.",
  "also.open": "Card",
};
