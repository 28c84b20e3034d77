"""The default model, multilingual-e5-small: converted once into a cache, run by ONNX Runtime."""
