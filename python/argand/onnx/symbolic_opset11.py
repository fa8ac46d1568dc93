"""The ops of ONNX that such functions would call: none."""
