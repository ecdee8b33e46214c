"""Use cases: what the command line, the Python API and later the server call."""
