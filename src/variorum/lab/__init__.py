"""Histories, questions and runs to measures, comparisons and reports. Only surfaces import it."""
