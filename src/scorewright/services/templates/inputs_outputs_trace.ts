type Row = Record<string, unknown>
type Judgement = { score: number; lengths: { reference: number; answer: number } } | { skip: string }

/** Judge one item: inputs holds all columns, outputs the application's answer, trace its spans if there are any. */
export function evaluate(inputs: Row, outputs: unknown, trace: unknown): Judgement {
  const reference = inputs.correct_answer ?? null
  if (reference === null) return { skip: 'no reference to compare with' }
  const wanted = asText(reference)
  const got = asText(outputs)
  return {
    score: got === wanted ? 1 : 0,
    lengths: { reference: wanted.length, answer: got.length },
  }
}

function asText(value: unknown): string {
  return typeof value === 'string' ? value : String(JSON.stringify(value))
}
