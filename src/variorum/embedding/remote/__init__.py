"""Models behind an address: any `/v1/embeddings` in OpenAI's protocol, at a bounded pace."""
