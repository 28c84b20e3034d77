"""Who is asking, what the policy says, and the one filter that both compile to.

Nothing here reads content, and nothing believes what a request says of itself.
"""
