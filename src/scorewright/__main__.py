"""Run the command line as `python -m scorewright`."""

from scorewright.cli.main import main

main()
