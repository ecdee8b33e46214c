function evaluate(output, expected) {
  if (output === expected) {
    return { score: 1.0, explanation: "The output is the reference" };
  }
  const sizes = `${output.length} characters, the reference has ${expected.length}`;
  return { score: 0.0, explanation: `The output is another text: ${sizes}` };
}
