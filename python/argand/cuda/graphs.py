"""CUDA graphs: work that is recorded once and replayed with one call."""
import gc

from .. import _C, _surface
from .._ignored import ignored, warn_ignored
from .._plain_functions import plain
from .memory import empty_cache
from .streams import Stream, StreamContext

is_current_stream_capturing, graph_pool_handle = (plain(f, __name__) for f in (_C.cuda.is_current_stream_capturing, _C.cuda.graph_pool_handle))


class CUDAGraph(_C.cuda.CUDAGraph):
    """Work of a stream, recorded between capture_begin() and capture_end(), or in a scope of graph()."""

    @ignored(keep_graph="a graph can be replayed from the end of its capture on, and its nodes cannot be changed")
    def __init__(self, keep_graph=False):
        super().__init__()

    def capture_begin(self, pool=None, capture_error_mode="global"):
        """Begins to record the current stream, which must not be the default one; memory comes from `pool`."""
        if capture_error_mode not in ("global", "thread_local", "relaxed"):
            raise RuntimeError("Unknown capture error mode. Expected `global`, `thread_local`, or `relaxed`, got " + capture_error_mode)
        if capture_error_mode == "thread_local":
            warn_ignored("torch.cuda.CUDAGraph.capture_begin()", "capture_error_mode", capture_error_mode,
                         "a capture does not look for calls that are unsafe within it, as with \"relaxed\"")
        super().capture_begin((0, 0) if pool is None else tuple(pool))

    def instantiate(self):
        """Accepted: a graph can be replayed from the end of its capture on."""


class graph:
    """A scope whose work is recorded, on a stream of its own (or `stream`), with memory of `pool`: what
    graph_pool_handle() or another graph's pool() returned."""
    default_capture_stream = None

    def __init__(self, cuda_graph, pool=None, stream=None, capture_error_mode="global"):
        if stream is None:
            if graph.default_capture_stream is None:
                graph.default_capture_stream = Stream()
            stream = graph.default_capture_stream
        self.cuda_graph = cuda_graph
        self.pool = pool
        self.capture_stream = stream
        self.stream_ctx = StreamContext(stream)
        self.capture_error_mode = capture_error_mode

    def __enter__(self):
        _C.cuda.synchronize()
        gc.collect()
        empty_cache()
        self.stream_ctx.__enter__()
        try:
            self.cuda_graph.capture_begin(self.pool, self.capture_error_mode)
        except BaseException:
            self.stream_ctx.__exit__(None, None, None)
            raise

    def __exit__(self, kind, *_):
        try:
            if kind is None:
                self.cuda_graph.capture_end()
            else:
                self.cuda_graph.reset()  # what was recorded is not whole
        finally:
            self.stream_ctx.__exit__(None, None, None)


__getattr__, __dir__ = _surface.of(__name__)
