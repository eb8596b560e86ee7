// English texts for open calls that a grant covers. They load with that list, not with the first page.

export const also = {
  "also.title": "Other pending calls that a session grant would cover",
  "also.note": "“Approve for this session” also releases the selected calls.",
  "also.open": "Open",
};
