"""The arguments of DistributedDataParallel's communication hooks."""


class GradBucket:
    """Gradients that are sent together."""

    def __init__(self, bucket):
        self._bucket, self._buffer = bucket, None

    def index(self):
        """The index of the bucket."""
        return self._bucket.index

    def is_last(self):
        """Whether no other follows in this backward."""
        return self._bucket.is_last

    def buffer(self):
        """The gradients in one tensor of one dimension."""
        return self._bucket.buffer if self._buffer is None else self._buffer

    def set_buffer(self, buffer):
        """Replaces the tensor that buffer() returns."""
        self._buffer = buffer

    def gradients(self):
        """Parts of the buffer, in the shapes of the parameters."""
        return self._bucket.gradients

    def parameters(self):
        """The parameters whose gradients the bucket holds."""
        return self._bucket.parameters
