"""``python -m capsieve`` is the ``capsieve`` command."""

from capsieve.cli.main import main

if __name__ == "__main__":
    main()
