"""Values and rules of the product; no input or output happens here."""
