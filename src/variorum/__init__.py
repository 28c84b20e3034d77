"""The retrieval index for documents that keep changing."""
