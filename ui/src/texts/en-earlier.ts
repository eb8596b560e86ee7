// English texts for earlier answers. They load with that part, not with the first page.

export const earlier = {
  "earlier.title": "Previous answers",
  "earlier.source": "{who}, to “{question}”",
  "earlier.use": "Use this answer",
};
