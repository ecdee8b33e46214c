"""Routes, one module per noun; they hold no rules."""
