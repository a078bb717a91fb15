"""The command line, one file per command or command group.

`main.py` only assembles: it knows each command's name and one-line help, imports the module when the command
is called, and turns errors into one line. Data goes to stdout, everything else to stderr.
"""
