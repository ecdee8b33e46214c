"""What travels as JSON, one module per noun."""
