"""Reading and writing rows, one module per noun; no rules."""
