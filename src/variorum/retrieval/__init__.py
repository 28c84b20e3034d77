"""Query and time to hits and citations; everything is read at one pinned generation."""
