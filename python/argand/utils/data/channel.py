"""Messages between a loader and its workers, over a pair of sockets.

    size of the text (8 bytes) | size of the memory behind it (8 bytes, 0: none) | text, if there is no memory

The text is a pickle.  The elements of tensors and arrays, and long texts, go into anonymous shared memory whose descriptor
travels with the message: they are copied once, by the sender, and the receiver's tensors lie in that memory.  Messages
are short, so a sender never waits for a receiver; nothing is left behind by a process that is killed.
"""
import array
import ctypes
import fcntl
import io
import mmap
import os
import pickle
import socket
import struct

from ... import _C
from ..._dtypes import TYPESTRS

_HEADER = struct.Struct("<QQ")
_LONGEST_INLINE = 1024
_LARGEST_IN_TEXT = 512  # elements of small tensors are a part of the text
_ALIGNMENT = 64
_shares_memory_of_gpus = True  # tensors look for this name, see _tensor.is_sent()
# What NumPy's array interface has no name for travels as integers.
_AS_INTEGERS = {_C.bfloat16: _C.int16}


class _Memory:
    """Memory for a tensor to lie in, by NumPy's array interface; the tensor keeps it."""
    __slots__ = ("__array_interface__", "bytes")

    def __init__(self, buffer, typestr, shape):
        self.bytes = (ctypes.c_char * buffer.nbytes).from_buffer(buffer)
        self.__array_interface__ = {"version": 3, "typestr": typestr, "shape": shape, "strides": None,
                                    "data": (ctypes.addressof(self.bytes), False)}


def _tensor_over(buffer, dtype_name, shape, requires_grad):
    dtype = getattr(_C, dtype_name)
    typestr = TYPESTRS[_AS_INTEGERS.get(dtype, dtype)]
    tensor = _C.from_numpy(_Memory(memoryview(buffer), typestr, shape))
    if dtype in _AS_INTEGERS:
        tensor = tensor.view(dtype)
    return tensor.requires_grad_() if requires_grad else tensor


def _empty(dtype_name, shape, requires_grad):
    return _C.empty(shape, dtype=getattr(_C, dtype_name), device="cpu", requires_grad=requires_grad)


class _Pickler(pickle.Pickler):
    """Puts the elements of plain tensors beside the pickle."""

    def reducer_override(self, obj):
        if type(obj) is not _C.Tensor or not obj.is_leaf or obj.is_cuda:
            return NotImplemented  # tensors of a GPU know that they are sent, and how
        name, shape = repr(obj.dtype).removeprefix("torch."), tuple(obj.shape)
        if obj.numel() == 0:
            return _empty, (name, shape, obj.requires_grad)
        tensor = obj.detach().contiguous()
        memory = (ctypes.c_char * tensor.nbytes).from_address(tensor.data_ptr())
        memory._tensor = tensor  # for as long as the pickler has the buffer
        return _tensor_over, (pickle.PickleBuffer(memory), name, shape, obj.requires_grad)


def _round_up(size):
    return -(-size // _ALIGNMENT) * _ALIGNMENT


def _write(text, buffers):
    """Shared memory with the sizes of all parts, the text and the buffers: (descriptor, bytes in all)."""
    sizes = struct.pack(f"<Q{len(buffers)}Q", len(buffers), *(b.nbytes for b in buffers))
    start = _round_up(len(sizes) + len(text))
    total = start + sum(_round_up(b.nbytes) for b in buffers)
    fd = os.memfd_create("argand-batch", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    try:
        os.ftruncate(fd, total)
        fcntl.fcntl(fd, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_SEAL)  # nobody can take it from who maps it
        with mmap.mmap(fd, total) as memory:
            memory[:len(sizes)] = sizes
            memory[len(sizes):len(sizes) + len(text)] = text
            for b in buffers:
                memory[start:start + b.nbytes] = b
                start += _round_up(b.nbytes)
    except BaseException:
        os.close(fd)
        raise
    return fd, total


def _read(fd, text_size, total):
    memory = memoryview(mmap.mmap(fd, total))
    count, = struct.unpack_from("<Q", memory)
    sizes = struct.unpack_from(f"<{count}Q", memory, 8)
    text = memory[8 + 8 * count:8 + 8 * count + text_size]
    start = _round_up(8 + 8 * count + text_size)
    buffers = []
    for size in sizes:
        buffers.append(memory[start:start + size])
        start += _round_up(size)
    return _loads(text, buffers=buffers)


class Unreadable(Exception):
    """A message came that cannot be unpickled here; its cause says why."""

    def reraise(self):
        """Raises the cause, and forgets it."""
        causes = [self.__cause__]
        self.__cause__ = None
        raise causes.pop()


def _loads(text, **options):
    try:
        return pickle.loads(text, **options)
    except Exception as error:
        raise Unreadable from error


class Channel:
    """One end of a connection.  The other end sees finish(), and the end of the last process that has this one."""

    def __init__(self, end):
        self.socket = end

    @staticmethod
    def pair():
        """Two channels that are connected with each other."""
        a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        return Channel(a), Channel(b)

    def fileno(self):
        """For select and the like."""
        return self.socket.fileno()

    def close(self):
        """Closes it in this process alone."""
        self.socket.close()

    def finish(self):
        """Ends the connection, whoever else has this end."""
        try:
            self.socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass  # the other end is gone
        self.socket.close()

    def send(self, obj):
        """Sends what can be pickled.  OSError if the other end is gone."""
        file, buffers = io.BytesIO(), []

        def stays_in_text(buffer):
            raw = buffer.raw()
            if raw.nbytes <= _LARGEST_IN_TEXT:
                return True
            buffers.append(raw)
            return False
        _Pickler(file, 5, buffer_callback=stays_in_text).dump(obj)
        text = file.getvalue()
        if not buffers and len(text) <= _LONGEST_INLINE:
            self.socket.sendall(_HEADER.pack(len(text), 0) + text)
            return
        fd, total = _write(text, buffers)
        try:
            socket.send_fds(self.socket, [_HEADER.pack(len(text), total)], [fd])
        finally:
            os.close(fd)

    def receive(self):
        """Waits for a message of the other end and returns it.  EOFError if that end is gone, Unreadable if it cannot be unpickled."""
        header, fds = b"", array.array("i")
        while len(header) < _HEADER.size:
            part, received, _, _ = socket.recv_fds(self.socket, _HEADER.size - len(header), 1)
            if not part:
                raise EOFError
            header += part
            fds.extend(received)
        text_size, total = _HEADER.unpack(header)
        if total == 0:
            text = b""
            while len(text) < text_size:
                part = self.socket.recv(text_size - len(text))
                if not part:
                    raise EOFError
                text += part
            return _loads(text)
        try:
            return _read(fds[0], text_size, total)
        finally:
            os.close(fds[0])
