"""How a node talks to the others through a store: its reports, and the orders that it gets."""
import json
import os
import queue
import threading
import time

from .rounds import Rounds

_SIGN_OF_LIFE = 1.0  # seconds between two
_LONGEST_LOOK = 1.5  # seconds between two calls of is_stuck(); if there were more, this process did not run meanwhile


class Membership:
    """Talks to the store in a thread of its own, so that one that does not answer, or is not there yet, holds nobody up.

    The node that hosts the store decides for all (rounds.py).  In the store, under the keys' prefix:

        said, said/N      how many things nodes have said, and each of them, [id, what, data]
        orders, order/N   how many orders there are, and each of them; nodes follow those that come after they do
        alive/ID          a number that a node counts up while it lives
    """

    def __init__(self, connect, prefix, rules, about, interval, prepare=lambda order: None):
        """connect() gives a store, and whether it is hosted here; prepare(order) may change an order before it is published."""
        self._connect, self._prefix, self._interval, self._prepare = connect, prefix + "/", interval, prepare
        self._rules, self._name, self._store, self._is_host, self.id = rules, about["host"], None, None, None
        self._orders, self._outbox = queue.SimpleQueue(), queue.SimpleQueue()
        self._woken, self._is_stopping = threading.Event(), False
        self.ready, self._wake = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)  # readable when there is an order
        self._read, self._heard, self._next_sign, self._left = 0, 0, 0.0, set()
        self._published, self._host, self._host_seen, self._talked = 0, None, (None, 0.0), None
        self._heard_at, self._looked, self._silent = None, 0.0, 0.0
        self.say("join", {**about, "rules": [rules.min_nodes, rules.max_nodes, rules.max_restarts]})
        self._thread = threading.Thread(target=self._run, name="argand launch", daemon=True)
        self._thread.start()

    def say(self, what, data=None):
        """Tells the node that decides."""
        self._outbox.put((what, data))
        self._woken.set()

    def order(self):
        """The next order, None if there is none; {"do": "lost"} where the store is gone."""
        try:
            os.read(self.ready, 4096)
        except BlockingIOError:
            pass
        try:
            return self._orders.get_nowait()
        except queue.Empty:
            return None

    def is_stuck(self):
        """Whether the store has not answered for so long that it must be lost.  To be called every second.

        A process that was stopped, as its machine may have been, finds that the last answer is old when it goes on.  So the time
        between two calls counts for half of what is allowed at most.
        """
        now, talked, most = time.monotonic(), self._talked, self._rules.lost_after + self._interval
        self._silent = 0.0 if talked != self._heard_at else self._silent + min(now - self._looked, _LONGEST_LOOK, most / 2)
        self._heard_at, self._looked = talked, now
        return talked is not None and self._silent > most

    def leave(self, why):
        """This node has to go; if it decides for all, all have to."""
        self.say("end" if self._is_host else "leave", {"why": why})

    def close(self):
        """Takes leave.  The host of the store waits until all have read the last order, as far as they live."""
        self.say("bye")
        self._is_stopping = True
        self._woken.set()
        self._thread.join(0 if self._talked is None or self.is_stuck() else self._rules.close_timeout + 2)
        if not self._thread.is_alive():
            os.close(self.ready)
            os.close(self._wake)

    # ---- the thread

    def _run(self):
        try:
            self._store, self._is_host = self._connect()
        except Exception as error:
            self._deliver({"do": "lost", "why": f"cannot be opened: {error}"})
            return
        try:
            self._begin()
            deadline = None
            while not self._is_over(deadline):
                self._woken.wait(0.02 if self._is_stopping else min(self._interval, _SIGN_OF_LIFE))
                self._woken.clear()
                if self._is_stopping and deadline is None:
                    deadline = time.monotonic() + self._rules.close_timeout
                self._talk(time.monotonic())
        except Exception as error:
            self._deliver({"do": "lost", "why": f"is lost: {error}"})

    def _begin(self):
        self._read = self._store.add(self._prefix + "orders", 0)
        self.id = self._store.add(self._prefix + "nodes", 1)
        self._store.add(f"{self._prefix}alive/{self.id}", 1)  # before anybody hears of it, and waits for the key
        if self._is_host:
            self._rounds = Rounds(self._rules, self._publish, time.monotonic())
        self._talked = time.monotonic()  # before the first order, which may come in the first talk

    def _is_over(self, deadline):
        if deadline is None or not self._outbox.empty():
            return False
        return not self._is_host or self._left.issuperset(self._rounds.nodes()) or time.monotonic() > deadline

    def _talk(self, now):
        while not self._outbox.empty():
            what, data = self._outbox.get()
            if what == "end":
                self._rounds.end(f"the agent on {self._name}, which hosts the store, was ended by {data['why']}")
                continue
            number = self._store.add(self._prefix + "said", 1)
            self._store.set(f"{self._prefix}said/{number}", json.dumps([self.id, what, data]))
        looks = now >= self._next_sign
        if looks:
            self._store.add(f"{self._prefix}alive/{self.id}", 1)
            self._next_sign = now + _SIGN_OF_LIFE
            self._look_at_host(now)
        if self._is_host:
            self._decide(now, looks)
        while self._store.check([f"{self._prefix}order/{self._read}"]):
            order = json.loads(self._store.get(f"{self._prefix}order/{self._read}"))
            self._read += 1
            self._interval = max(self._interval, 0.001 * len(order.get("nodes", ())))  # the store answers a thousand in a second
            self._host = order["host"]
            self._deliver(order)
        self._talked = time.monotonic()

    def _look_at_host(self, now):
        """The store may answer while the agent that decides does not."""
        if self._is_host or self._host is None or self._is_stopping:
            return
        count = self._store.add(f"{self._prefix}alive/{self._host}", 0)
        if count != self._host_seen[0]:
            self._host_seen = (count, now)
        elif now - self._host_seen[1] > self._rules.lost_after:
            raise TimeoutError(f"the agent that hosts it gave no sign of life for {self._rules.lost_after:g} s")

    def _deliver(self, order):
        self._orders.put(order)
        try:
            os.write(self._wake, b"!")
        except (BlockingIOError, OSError):
            pass

    # ---- the host's part

    def _decide(self, now, looks):
        total = self._store.add(self._prefix + "said", 0)
        while self._heard < total and self._store.check([f"{self._prefix}said/{self._heard + 1}"]):
            self._heard += 1
            node, what, data = json.loads(self._store.get(f"{self._prefix}said/{self._heard}"))
            self._store.delete_key(f"{self._prefix}said/{self._heard}")
            if what == "bye":
                self._left.add(node)
            else:
                self._rounds.heard(node, what, data, now)
        nodes = self._rounds.nodes() if looks or self._rounds.is_asking() else []
        nodes = [n for n in nodes if n != self.id]
        if nodes:
            for node, count in zip(nodes, self._store.multi_get([f"{self._prefix}alive/{n}" for n in nodes])):
                self._rounds.alive(node, bytes(count), now)
        self._rounds.alive(self.id, self._next_sign, now)
        before = None
        while before != self._published:  # what one decision makes possible is decided at once
            before = self._published
            self._rounds.tick(now)

    def _publish(self, order):
        self._prepare(order)
        order["host"] = self.id
        self._store.set(f"{self._prefix}order/{self._published}", json.dumps(order))
        self._published = self._store.add(self._prefix + "orders", 1)
