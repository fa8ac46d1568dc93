"""Streams and events of CUDA devices."""
from .. import _C
from .._ignored import harmless


def _raw(stream):
    return stream._stream


class Stream:
    """A queue of work of a device: work of one stream runs in order, that of different ones may overlap.

    priority: -1 is before 0.  stream_ptr: of a stream that something else made (see ExternalStream).
    """

    def __init__(self, device=None, priority=0, *, stream_ptr=None, _stream=None):
        if _stream is None:
            device = index_of(device)
            if stream_ptr is not None:
                _stream = _C.cuda._external_stream(stream_ptr, device)
            else:
                _stream = _C.cuda._stream_from_pool(device, priority)
        self._stream = _stream
        self._before = []

    @property
    def device(self):
        """The device of the stream."""
        return self._stream.device

    @property
    def device_index(self):
        """The number of its device."""
        return self._stream.device_index

    @property
    def device_type(self):
        """The kind of its device as a number, which is 1 for CUDA."""
        return 1

    @staticmethod
    def priority_range():
        """(least, greatest): the priorities that streams of every device can have."""
        return 0, -1

    @property
    def cuda_stream(self):
        """The cudaStream_t as a number."""
        return self._stream.cuda_stream

    @property
    def _as_parameter_(self):  # as an argument of a ctypes function
        from ctypes import c_void_p
        return c_void_p(self.cuda_stream)

    @property
    def stream_id(self):
        """A number that tells streams of a device apart."""
        return self._stream.cuda_stream

    def query(self):
        """Whether all work is done."""
        return self._stream.query()

    def synchronize(self):
        """Waits for all work."""
        self._stream.synchronize()

    def wait_event(self, event):
        """Work given to this stream from now on waits for the event."""
        self._stream.wait_event(event._made())

    def wait_stream(self, stream):
        """Work given to this stream from now on waits for what the other has now."""
        self._stream.wait_stream(_raw(stream))

    def record_event(self, event=None):
        """Records an event, a new one by default, and returns it."""
        event = Event() if event is None else event
        event.record(self)
        return event

    def __enter__(self):
        scope = StreamContext(self)
        scope.__enter__()
        self._before.append(scope)
        return self

    def __exit__(self, *exception):
        self._before.pop().__exit__(*exception)

    def __eq__(self, other):
        return isinstance(other, Stream) and self._stream == other._stream

    def __hash__(self):
        return hash(self._stream)

    def __repr__(self):
        return f"<torch.cuda.Stream device={self.device} cuda_stream={self.cuda_stream:#x}>"


class ExternalStream(Stream):
    """A stream that something else made and will destroy, by the number of its cudaStream_t."""

    def __init__(self, stream_ptr, device=None):
        super().__init__(device, stream_ptr=stream_ptr)


class Event:
    """A point in a stream.  enable_timing: elapsed_time() may be asked for.  interprocess: other processes may wait for it."""

    @harmless(blocking="the host waits either way, as fast as it can")
    def __init__(self, enable_timing=False, blocking=False, interprocess=False, external=False):
        if external:
            raise NotImplementedError("Event(): external=True is not supported: events of a captured graph are parts of it")
        if enable_timing and interprocess:
            raise ValueError("Event(): an event with interprocess=True cannot have enable_timing=True")
        self._timing, self._interprocess = enable_timing, interprocess
        self._event = self._device = None

    def _made(self):
        if self._event is None:
            self._event = _C.cuda._Event(self._timing, self._interprocess)
        return self._event

    @property
    def device(self):
        """The device that it was recorded on, or None before that."""
        return None if self._device is None else _C.device("cuda", self._device)

    def ipc_handle(self):
        """Bytes by which from_ipc_handle() opens the event in another process."""
        if self._device is None:
            self._device = _C.cuda.current_device()
        return self._made()._ipc_handle()

    def __reduce__(self):
        if not self._interprocess:
            raise RuntimeError("an Event can be sent to another process if it was made with interprocess=True")
        handle = self.ipc_handle()
        return type(self).from_ipc_handle, (self._device, handle)

    @classmethod
    def from_ipc_handle(cls, device, handle):
        """The event of another process, which it made with interprocess=True."""
        event = cls(interprocess=True)
        event._event, event._device = _C.cuda._Event._from_ipc_handle(device, handle), index_of(device)
        return event

    def record(self, stream=None):
        """Marks the point that a stream, the current one by default, is at."""
        stream = current_stream() if stream is None else stream
        if self._device is None:
            self._device = stream.device.index
        _raw(stream)._record(self._made())

    def wait(self, stream=None):
        """Work given to a stream, the current one by default, from now on waits for the event."""
        stream = current_stream() if stream is None else stream
        self._made()._wait(_raw(stream))

    def query(self):
        """Whether the work before the point is done; true if nothing was recorded."""
        return self._event is None or self._event.query()

    def synchronize(self):
        """Waits for the work before the point."""
        if self._event is not None:
            self._event.synchronize()

    def elapsed_time(self, end_event):
        """Milliseconds between two points."""
        return self._made()._elapsed(end_event._made())

    def __repr__(self):
        return "<torch.cuda.Event uninitialized>" if self._event is None else f"<torch.cuda.Event at {id(self._event):#x}>"


def index_of(device):
    """The number of a device given as a number, a name or a device; None: the current one."""
    if device is None or isinstance(device, int):
        return device
    device = _C.device(device)
    if device.type != "cuda":
        raise ValueError(f"Expected a cuda device, but got: {device}")
    return device.index


class StreamContext:
    """A scope in which a stream, and its device, are the current ones; without a stream nothing changes."""

    def __init__(self, stream):
        self.stream = stream

    def __enter__(self):
        if self.stream is None:
            return
        self._device = _C.cuda.current_device()
        self._before = _C.cuda._current_stream(self.stream.device_index)  # of the device that the stream is on
        _C.cuda.set_device(self.stream.device_index)
        _C.cuda._set_stream(_raw(self.stream))

    def __exit__(self, *_):
        if self.stream is not None:
            _C.cuda._set_stream(self._before)
            _C.cuda.set_device(self._device)


def stream(stream):
    """A scope in which the stream is the current one."""
    return StreamContext(stream)


def set_stream(stream):
    """Makes the stream, and its device, the current ones."""
    if stream is not None:
        _C.cuda.set_device(stream.device_index)
        _C.cuda._set_stream(_raw(stream))


def current_stream(device=None):
    """The stream that work of a device goes to."""
    return Stream(_stream=_C.cuda._current_stream(index_of(device)))


def default_stream(device=None):
    """The stream that work of a device goes to unless another is chosen."""
    return Stream(_stream=_C.cuda._default_stream(index_of(device)))
