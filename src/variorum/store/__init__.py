"""Generations, layouts, inputs and vectors: the only room with SQL, locks and files of state."""
