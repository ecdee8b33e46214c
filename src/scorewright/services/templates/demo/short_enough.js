// Is the answer short enough to be read? Ten words over the limit cost a quarter.
function evaluate(output, most_words = 25) {
  const words = (output ?? "").split(/\s+/).filter(Boolean).length;
  if (words === 0) return { skip: "there is no answer" };
  const over = Math.max(0, words - most_words);
  return { score: Math.max(0, 1 - over / 40), explanation: `${words} words` };
}
