"""From a text to ranges: chunkers, the reuse planner, and the layout they give. No I/O."""
