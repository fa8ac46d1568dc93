"""Decides which nodes take part, with which ranks, and what follows an event: in one place, on the node that hosts the store.

A *round* is a set of nodes whose workers run together.  An order is either

    {"do": "run", "round": 0, "restarts": 0, "nodes": {id: [group rank, first rank, first rank in its role, size of its role]}, "world": 4}
    {"do": "end", "why": "", "failure": None}

and every node executes them one after another: a new round ends the workers of the one before.
"""
from dataclasses import dataclass

_BETWEEN_TICKS = 2.0  # seconds at most, if this process runs
_SAME_MOMENT = 0.3  # seconds: failures of that time belong together, and the earliest is the first, whichever was heard of first


@dataclass
class Rules:
    """The options of torchrun that rounds depend on."""

    min_nodes: int = 1
    max_nodes: int = 1
    max_restarts: int = 0
    is_static: bool = False  # nodes have numbers
    join_timeout: float = 600.0
    last_call_timeout: float = 30.0  # how long more than min_nodes are waited for
    close_timeout: float = 30.0  # how long the host of the store waits for nodes to hear of the end
    lost_after: float = 6.0  # seconds without a sign of life


class Rounds:
    """Takes what nodes say, and publishes orders.  `now` is of any clock that only goes forward."""

    def __init__(self, rules, publish, now):
        self._rules, self._publish = rules, publish
        self._nodes, self._seen = {}, {}  # {id: what it said of itself}, {id: (its count of signs of life, when it changed)}
        self._round, self._restarts, self._members, self._done = -1, 0, [], set()
        self._failures, self._failed_at = [], None
        self._counts, self._living = {}, set()  # since a worker failed: the first count of each node, and who was heard of after it
        self._waiting_since, self._enough_since = now, None
        self._ticked = now
        self.has_ended = False

    # ---- what happens

    def heard(self, node, what, data, now):
        """One thing that a node says."""
        if what == "join":
            self._join(node, data, now)
        elif what == "leave":
            self._lose(node, f"the agent on {self._name(node)} was ended by {data['why']}", now)
        elif data["round"] != self._round or self._is_waiting():
            return  # of workers that are ended already
        elif what == "done":
            self._done.add(node)
        elif what == "failed":
            self._failures.append((data["failure"]["time"], data["failure"]))
            self._failed_at = self._failed_at if self._failed_at is not None else now
            self._living.add(node)

    def alive(self, node, count, now):
        """A node's count of signs of life."""
        if node in self._nodes and self._seen.get(node, (None, 0))[0] != count:
            self._seen[node] = (count, now)
        if self.is_asking() and self._counts.setdefault(node, count) != count:
            self._living.add(node)

    def is_asking(self):
        """Whether a worker has failed, and it is not known of all nodes that they live: counts should be told as soon as they change."""
        return self._failed_at is not None and not self._is_waiting()

    def nodes(self):
        """The ids of all nodes that joined and were not lost."""
        return list(self._nodes)

    def tick(self, now):
        """Decides what is to be decided.  To be called every second, or more often."""
        self._forgive(now)
        for node in [n for n, (_, since) in self._seen.items() if n in self._nodes and now - since > self._rules.lost_after]:
            self._lose(node, f"the agent on {self._name(node)} gave no sign of life for {self._rules.lost_after:g} s", now)
        if self.has_ended:
            return
        if self._is_waiting():
            self._gather(now)
        elif self._failed_at is not None:
            if len(self._members) == 1 or now - self._failed_at >= _SAME_MOMENT and self._all_live():
                self._fail(now)
        elif self._done.issuperset(self._members):
            self._end("")

    def _forgive(self, now):
        """Time in which nobody called tick() does not count: this process was stopped, and nodes could not be heard."""
        missed = now - self._ticked - min(_BETWEEN_TICKS, self._rules.lost_after / 2)
        self._ticked = now
        if missed > 0:
            self._seen = {node: (count, since + missed) for node, (count, since) in self._seen.items()}

    # ---- nodes

    def _name(self, node):
        return self._nodes[node]["host"]

    def _join(self, node, data, now):
        twin = next((n for n, other in self._nodes.items() if other["node_rank"] == data["node_rank"]), None)
        self._nodes[node] = data
        self._seen[node] = (None, now)
        if data["rules"] != [self._rules.min_nodes, self._rules.max_nodes, self._rules.max_restarts]:
            mine = f"{self._rules.min_nodes}:{self._rules.max_nodes}"
            self._end(f"--nnodes and --max-restarts differ: {mine} and {self._rules.max_restarts} on the node of the store, "
                      f"{data['rules'][0]}:{data['rules'][1]} and {data['rules'][2]} on {data['host']}")
            return
        if self._rules.is_static and twin is not None:
            self._end(f"two nodes have --node-rank {data['node_rank']}: {self._name(twin)} and {data['host']}")
            return
        if not self.has_ended and not self._is_waiting() and len(self._members) < self._rules.max_nodes:
            self._wait(now)  # that restart does not count

    def _lose(self, node, why, now):
        if node not in self._nodes:
            return
        was_member = node in self._members and not self._is_waiting()
        name = self._name(node)
        del self._nodes[node]
        if self.has_ended or not was_member or node in self._done and self._done.issuperset(self._members):
            return
        if self._rules.is_static or len(self._nodes) < self._rules.min_nodes:
            if self._restarts >= self._rules.max_restarts or self._rules.is_static:
                self._end(why, {"time": 0.0, "host": name, "text": why})
                return
            self._restarts += 1
        self._wait(now)

    # ---- rounds

    def _is_waiting(self):
        return self._waiting_since is not None

    def _wait(self, now):
        self._waiting_since, self._enough_since = now, None

    def _gather(self, now):
        rules, count = self._rules, len(self._nodes)
        if count < rules.min_nodes:
            self._enough_since = None
            if now - self._waiting_since > rules.join_timeout:
                self._end(f"{count} of {rules.min_nodes} nodes joined within {rules.join_timeout:g} s")
            return
        if self._enough_since is None:
            self._enough_since = now
        is_first = self._round < 0
        if count >= rules.max_nodes or not is_first or now - self._enough_since >= rules.last_call_timeout:
            self._begin()

    def _begin(self):
        by = (lambda n: self._nodes[n]["node_rank"]) if self._rules.is_static else int
        self._members = sorted(self._nodes, key=by)[:self._rules.max_nodes]
        self._round += 1
        self._done, self._failures, self._failed_at, self._waiting_since = set(), [], None, None
        self._counts, self._living = {}, set()
        of_role = {}
        for node in self._members:
            of_role[self._nodes[node]["role"]] = of_role.get(self._nodes[node]["role"], 0) + self._nodes[node]["workers"]
        first, first_of_role, places = 0, dict.fromkeys(of_role, 0), {}
        for group_rank, node in enumerate(self._members):
            role, workers = self._nodes[node]["role"], self._nodes[node]["workers"]
            places[node] = [group_rank, first, first_of_role[role], of_role[role]]
            first, first_of_role[role] = first + workers, first_of_role[role] + workers
        self._publish({"do": "run", "round": self._round, "restarts": self._restarts, "nodes": places, "world": first})

    def _all_live(self):
        """Whether all nodes have lived longer than the worker that failed.  Workers notice that a node is lost sooner than we do, and
        fail for it: then it was the node that failed."""
        return self._living.issuperset(node for node in self._members if node in self._nodes)

    def _fail(self, now):
        _, failure = min(self._failures, key=lambda each: each[0])
        if self._restarts < self._rules.max_restarts:
            self._restarts += 1
            self._wait(now)
        else:
            self._end(f"rank {failure['rank']} on {failure['host']} failed", failure)

    def _end(self, why, failure=None):
        if self.has_ended:
            return
        self.has_ended = True
        self._publish({"do": "end", "why": why, "failure": failure})

    def end(self, why):
        """The node that decides has to go."""
        self._end(why)
