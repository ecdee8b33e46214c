type Row = Record<string, unknown>

/** Judge one item and return one number. */
export function evaluate(inputs: Row, outputs: unknown, trace: unknown): number | { skip: string } {
  const reference = inputs.correct_answer ?? null
  if (reference === null) return { skip: 'no reference to compare with' }
  return JSON.stringify(outputs) === JSON.stringify(reference) ? 1 : 0
}
