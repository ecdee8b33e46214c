const FIELDS = ["title", "items", "total"];

function evaluate(output, expected) {
  let document;
  try {
    document = JSON.parse(output);
  } catch (problem) {
    return { score: 0.0, explanation: `The output is no JSON: ${problem.message}` };
  }
  if (typeof document !== "object" || document === null || Array.isArray(document)) {
    return { score: 0.0, explanation: "The output is JSON, but no object" };
  }
  const absent = FIELDS.filter((field) => !(field in document));
  if (absent.length) {
    return { score: 0.0, explanation: `Fields absent: ${absent.join(", ")}` };
  }
  const items = document.items;
  if (!Array.isArray(items) || !items.length) {
    return { score: 0.0, explanation: "items has no entries" };
  }
  return { score: 1.0, explanation: `A document of ${items.length} items` };
}
