"""``python -m cgscore``: the command line."""

from cgscore.cli.app import main

main()
