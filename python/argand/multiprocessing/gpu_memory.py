"""Tensors of GPUs that processes share: docs/design/0012-sharing-memory-of-a-gpu.md.

A process that sends such tensors has a server.  A message holds the server's address and a token of the storage; the receiver
connects to the server, gets descriptors of the memory, maps it, and tells the server when it has dropped the last tensor of it.  The
connection stays: when it closes, its process is gone, with all that it held.
"""
import array
import json
import os
import select
import selectors
import socket
import struct
import threading
import time
from collections import Counter

from .. import _C
from .._copies import _restore
from .._untyped_storage import _bytes_of

_native = _C._shared_memory

# Requests: a kind, the server's secret, and a token or a ticket.
_REQUEST = struct.Struct("c16s16s")
_OPEN, _DROP, _TAKEN, _PASS = b"O", b"D", b"T", b"P"
_PER_PACKET = 100  # descriptors; the kernel takes 253
_PACKET = 1 << 16
_PATIENCE = 60.0  # seconds for the other side to read an answer


def _is_ours(connection):
    """Whether the other end is a process of the same user."""
    _, user, _ = struct.unpack("3i", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i")))
    return user == os.geteuid()


class _Sent:
    """A storage of this process that others have, or will have when they read what was sent."""

    def __init__(self, token, memory, key):
        self.token, self.memory, self.key = token, memory, key
        self.tickets = 0  # messages that nobody has read yet
        self.holders = Counter()  # connections of receivers: how often they have mapped it


class _Peer:
    """A connection to the server of another process."""

    def __init__(self, address, secret):
        self.secret, self.reading, self.writing = secret, threading.Lock(), threading.Lock()
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        try:
            self.socket.connect(address)
            if not _is_ours(self.socket):
                raise PermissionError("another user's process")
        except OSError:
            self.socket.close()
            raise

    def send(self, kind, what):
        with self.writing:
            self.socket.sendall(_REQUEST.pack(kind, self.secret, what))

    def ask(self, kind, what):
        """The answer, and the descriptors that came with it."""
        with self.reading:
            self.send(kind, what)
            descriptors = []
            try:
                answer = json.loads(self._packet(descriptors))
                while len(descriptors) < len(answer.get("pieces", ())):
                    self._packet(descriptors)
            except BaseException:
                for descriptor in descriptors:
                    os.close(descriptor)
                raise
            return answer, descriptors

    def _packet(self, descriptors):
        data, ancillary, flags, _ = self.socket.recvmsg(_PACKET, socket.CMSG_SPACE(_PER_PACKET * 4), socket.MSG_CMSG_CLOEXEC)
        for level, kind, content in ancillary:
            if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
                numbers = array.array("i")
                numbers.frombytes(content[:len(content) // 4 * 4])
                descriptors.extend(numbers)
        if flags & socket.MSG_CTRUNC:
            raise OSError("no descriptors left in this process (ulimit -n)")
        if not data:
            raise EOFError
        return data


class _Agent:
    """What this process has sent and received."""

    def __init__(self):
        self.address, self.secret = b"\0argand-gpu-" + os.urandom(16).hex().encode(), os.urandom(16)
        self.lock = threading.RLock()  # of what was sent; held for moments
        self.sent, self.of_storage, self.tickets = {}, {}, {}  # by token, storage and ticket
        self.receiving = threading.RLock()  # of what was received; held while another process is asked
        self.received, self.addresses, self.peers = {}, {}, {}
        self.connections = set()  # from receivers
        self.server = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.server.bind(self.address)
        self.server.listen(4096)
        self.wake, wake = os.pipe()
        os.set_blocking(wake, False)
        os.set_blocking(self.wake, False)
        self.wakes = wake
        _native.set_wake(wake)
        for work in (self._serve, self._unmap):
            threading.Thread(target=work, name="argand shared memory", daemon=True).start()

    def close(self):
        """In a forked child, whose descriptors would keep the parent's connections open."""
        self.server.close()
        for peer in self.peers.values():
            peer.socket.close()
        for connection in list(self.connections):
            connection.close()
        os.close(self.wake)
        os.close(self.wakes)

    # ---- the sender

    def send(self, tensor):
        """What a message says of the storage of `tensor`: who owns it, which it is, and the ticket that keeps it until it is read."""
        data = _native.prepare(tensor)
        ticket = os.urandom(16)
        with self.receiving:
            origin = self.received.get(data)
        if origin is not None:
            with self.lock:
                self.tickets[ticket] = tensor.detach()
            return (*origin, self.address, self.secret, ticket)
        key = _C._storage_id(tensor)
        with self.lock:
            sent = self.of_storage.get(key)
            known = sent is not None
        if not known:
            self._try(tensor)
        with self.lock:
            sent = self.of_storage.get(key)
            if sent is None:
                sent = _Sent(os.urandom(16), _bytes_of(tensor), key)
                self.sent[sent.token] = self.of_storage[key] = sent
            sent.tickets += 1
            self.tickets[ticket] = sent
        return self.address, self.secret, sent.token, self.address, self.secret, ticket

    @staticmethod
    def _try(tensor):
        """Raises here, where the program is, what the server would have to tell the receiver."""
        try:
            _, _, pieces = _native.share(tensor)
        except RuntimeError as error:
            raise RuntimeError(f"a {type(tensor).__name__} on {tensor.device} cannot be sent to another process: {error}; send "
                               "what .cpu() gives, and move that to the GPU in the other process") from None
        for descriptor, _, _ in pieces:
            os.close(descriptor)

    def _end_ticket(self, ticket):
        with self.lock:
            sent = self.tickets.pop(ticket, None)
            if isinstance(sent, _Sent):
                sent.tickets -= 1
                self._end(sent)

    def _end(self, sent):
        if not sent.tickets and not sent.holders and self.sent.pop(sent.token, None) is not None:
            del self.of_storage[sent.key]

    def _serve(self):
        with selectors.DefaultSelector() as selector:
            selector.register(self.server, selectors.EVENT_READ)
            passes = []  # who waits until all that has come by now is done
            while True:
                ready = selector.select(0 if passes else None)
                if not ready:
                    for connection in passes:
                        self._answer(connection, {})
                    passes.clear()
                for key, _ in ready:
                    if key.fileobj is self.server:
                        try:
                            connection, _ = self.server.accept()
                        except OSError:  # it has gone again, or there are no descriptors for now
                            time.sleep(0.01)
                            continue
                        if _is_ours(connection):
                            connection.settimeout(_PATIENCE)
                            self.connections.add(connection)
                            selector.register(connection, selectors.EVENT_READ)
                        else:
                            connection.close()
                    elif not self._serve_one(key.fileobj, passes):
                        selector.unregister(key.fileobj)
                        self.connections.discard(key.fileobj)
                        passes = [c for c in passes if c is not key.fileobj]
                        self._gone(key.fileobj)

    def _serve_one(self, connection, passes):
        """False: the process at the other end is gone."""
        try:
            request = connection.recv(_PACKET)
            if len(request) != _REQUEST.size:
                return False
            kind, secret, what = _REQUEST.unpack(request)
            if secret != self.secret:
                return False
            if kind == _OPEN:
                self._open(connection, what)
            elif kind == _DROP:
                with self.lock:
                    sent = self.sent.get(what)
                    if sent is not None:
                        sent.holders[connection] -= 1
                        sent.holders += Counter()  # drops zeros
                        self._end(sent)
            elif kind == _TAKEN:
                self._end_ticket(what)
            elif kind == _PASS:
                passes.append(connection)
        except OSError:
            return False
        return True

    def _open(self, connection, token):
        with self.lock:
            sent = self.sent.get(token)
            if sent is not None:
                sent.holders[connection] += 1
        pieces = []
        try:
            if sent is None:
                raise RuntimeError("it is not there any more: each message can be read once")
            device, offset, pieces = _native.share(sent.memory)
            answer = {"device": device, "offset": offset, "nbytes": _C._storage_nbytes(sent.memory),
                      "pieces": [piece[1:] for piece in pieces]}
        except Exception as error:  # the receiver's to tell
            answer = {"error": str(error)}
            if sent is not None:
                with self.lock:
                    sent.holders[connection] -= 1
                    sent.holders += Counter()
                    self._end(sent)
        try:
            self._answer(connection, answer)
            for first in range(0, len(pieces), _PER_PACKET):
                descriptors = array.array("i", [piece[0] for piece in pieces[first:first + _PER_PACKET]])
                connection.sendmsg([b"d"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, descriptors)])
        finally:
            for descriptor, _, _ in pieces:
                os.close(descriptor)

    @staticmethod
    def _answer(connection, answer):
        try:
            connection.sendall(json.dumps(answer).encode())
        except OSError:
            pass  # it is gone, as its next read tells

    def _gone(self, connection):
        connection.close()
        with self.lock:
            for sent in list(self.sent.values()):
                if sent.holders.pop(connection, 0):
                    self._end(sent)

    # ---- the receiver

    def receive(self, owner, secret, token, sender, sender_secret, ticket):
        """A tensor of the bytes of a storage: this process's own, one that it has already, or one mapped now."""
        with self.receiving:
            if owner == self.address:
                with self.lock:
                    sent = self.sent.get(token)
                if sent is None:
                    raise RuntimeError("a tensor that came back is not there any more: each message can be read once")
                memory = sent.memory.detach()
            else:
                memory = self._known(owner, token)
                if memory is None:
                    memory = self._mapped(owner, secret, token)
            if sender == self.address:
                self._end_ticket(ticket)
            else:
                self._tell(sender, sender_secret, _TAKEN, ticket)
            return memory

    def _known(self, owner, token):
        data = self.addresses.get((owner, token))
        return None if data is None else _native.find(data)

    def _mapped(self, owner, secret, token):
        try:
            answer, descriptors = self._peer(owner, secret).ask(_OPEN, token)
        except (EOFError, ConnectionError, FileNotFoundError):
            self.peers.pop(owner, None)
            raise RuntimeError("a tensor of a GPU cannot be received: the process that owns its memory has ended; it must live until "
                               "what it sent is received") from None
        try:
            if "error" in answer:
                raise RuntimeError(f"a tensor of a GPU cannot be received: {answer['error']}")
            pieces = [(descriptor, *piece) for descriptor, piece in zip(descriptors, answer["pieces"])]
            try:
                memory = _native.map(answer["device"], answer["offset"], pieces, answer["nbytes"])
            except BaseException:
                self._tell(owner, secret, _DROP, token)
                raise
        finally:
            for descriptor in descriptors:
                os.close(descriptor)
        data = memory.data_ptr()
        self.received[data] = owner, secret, token
        self.addresses[owner, token] = data
        return memory

    def _peer(self, address, secret):
        if address not in self.peers:
            self.peers[address] = _Peer(address, secret)
        return self.peers[address]

    def _tell(self, address, secret, kind, what):
        try:
            self._peer(address, secret).send(kind, what)
        except OSError:
            self.peers.pop(address, None)  # it has ended, and holds nothing

    def unmap(self):
        """Gives back the memory of which nobody holds a tensor any more; how much has to wait for the end of a capture."""
        with self.receiving:
            done, left = _native.unmap_released()
            for data in done:
                owner, secret, token = self.received.pop(data)
                if self.addresses.get((owner, token)) == data:
                    del self.addresses[owner, token]
                self._tell(owner, secret, _DROP, token)
            return left

    def _unmap(self):
        left = 0
        while True:
            if select.select([self.wake], [], [], 1.0 if left else None)[0]:
                os.read(self.wake, 4096)
            left = self.unmap()

    def collect(self):
        self.unmap()
        peer = _Peer(self.address, self.secret)
        peer.ask(_PASS, bytes(16))
        peer.socket.close()


_agent, _starting = None, threading.Lock()


def _this_process():
    global _agent
    with _starting:
        if _agent is None:
            _agent = _Agent()
        return _agent


def _after_fork():
    global _agent, _starting
    _starting = threading.Lock()
    if _agent is not None:
        _agent.close()
        _agent = None


os.register_at_fork(after_in_child=_after_fork)


def collect():
    """Releases received memory that nobody here holds any more, and sent memory that no other process holds any more."""
    if _agent is not None:
        _agent.collect()


def is_shared(tensor):
    """Whether the tensor can be sent to other processes, which then see the same memory."""
    return _native.can_share(tensor)


def _rebuild(cls, handle, device, dtype, shape, stride, offset, requires_grad, attributes):
    if handle is None:
        tensor = _C.empty_strided(shape, stride, dtype=dtype, device=device)
    else:
        memory = _this_process().receive(*handle)
        whole = memory[:memory.numel() // dtype.itemsize * dtype.itemsize]
        tensor = whole.view(dtype).as_strided(shape, stride, offset).detach()
    return _restore(cls, tensor, requires_grad, attributes)


def reduce(tensor):
    """What multiprocessing sends instead of a tensor of a GPU."""
    if tensor.requires_grad and not tensor.is_leaf:
        raise RuntimeError("Cowardly refusing to serialize non-leaf tensor which requires_grad, since autograd does not support "
                           "crossing process boundaries.  If you just want to transfer the data, call detach() on the tensor "
                           "before serializing (e.g., putting it on the queue).")
    plain = tensor.detach()
    handle = _this_process().send(plain) if tensor.numel() else None
    return _rebuild, (type(tensor), handle, tensor.device.type, tensor.dtype, tuple(tensor.shape), tensor.stride(),
                      tensor.storage_offset() if handle else 0, tensor.requires_grad, dict(tensor.__dict__))
