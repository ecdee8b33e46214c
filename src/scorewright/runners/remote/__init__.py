"""Sandboxes that a provider runs elsewhere: one per evaluator and run, spoken to over HTTP."""
