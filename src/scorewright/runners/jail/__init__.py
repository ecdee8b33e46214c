"""The kernel jail for Python: a zygote that forks locked workers (docs/explanation/sandbox.md)."""
