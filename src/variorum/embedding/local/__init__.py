"""Models in a folder of this machine: any ONNX graph, and those of two libraries."""
