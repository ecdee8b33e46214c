"""What goes over the wire, one module per noun."""
