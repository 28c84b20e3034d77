"""From questions and a chunker to a ranking, to what a budget returns, to scores."""
