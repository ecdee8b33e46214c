"""Judges: evaluators whose verdict a model gives, by a prompt that its author writes."""
