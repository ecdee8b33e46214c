"""What runs inside a sandbox: loads the author's source and answers batches (protocol.md)."""
