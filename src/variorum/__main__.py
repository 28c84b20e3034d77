"""`python -m variorum`."""

from variorum.surfaces.cli import main

if __name__ == "__main__":
    main()
