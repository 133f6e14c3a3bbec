"""``python -m cgscore``: the command line."""

from cgscore.cli import main

main()
