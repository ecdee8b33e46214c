type Row = Record<string, unknown>

/** Judge one item and return one number. */
export function evaluate(
  app_params: Row,
  inputs: Row,
  output: unknown,
  correct_answer: unknown,
): number | { skip: string } {
  if (correct_answer === null) return { skip: 'no reference to compare with' }
  return JSON.stringify(output) === JSON.stringify(correct_answer) ? 1 : 0
}
