export const strings = {
  title: "Evaluators",
  search: "Search evaluators",
  none: {
    title: "No evaluators yet",
    text: "Write a check in Python, JavaScript or TypeScript, or start from a sample.",
  },
  noMatch: "No evaluators match",
  noMatchText: "Other words, tags or languages may.",
  clear: "Clear filters",
  more: "Show more",
};
