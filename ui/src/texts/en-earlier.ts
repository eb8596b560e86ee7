// English, of what was answered before. Comes with it, not with the first load.

export const earlier = {
  "earlier.title": "Answered before",
  "earlier.source": "{who}, to “{question}”",
  "earlier.use": "Use this answer",
};
