"""The command line: options in, tables or one JSON document out, exit codes for CI."""
