/** Judge one item. A variable without a default must be mapped to a field; one with a default may be. */
function evaluate(output, expected = null) {
  if (expected === null) return { skip: 'no reference to compare with' }
  const wanted = JSON.stringify(expected)
  const got = JSON.stringify(output)
  if (got !== wanted) return { score: 0, explanation: `expected ${wanted}, got ${got}` }
  return { score: 1, explanation: 'the output is as expected' }
}
