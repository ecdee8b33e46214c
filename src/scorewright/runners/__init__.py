"""What executes author code: one protocol, one harness, a boundary per runner."""
