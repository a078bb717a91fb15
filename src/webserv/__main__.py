"""``python -m webserv`` is the command line."""

from webserv.cli.main import main

if __name__ == "__main__":
    main()
