// English texts for earlier answers. They load with that part, not with the first page.

export const earlier = {
  "earlier.title": "Answered before",
  "earlier.source": "{who}, to “{question}”",
  "earlier.use": "Use this answer",
};
