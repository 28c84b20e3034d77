"""The nouns of the whole package, frozen, with their errors and identities."""
