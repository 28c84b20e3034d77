"""People and programs: thin layers over the door."""
