"""Processes with different numbers of batches: names."""
from .._names import _never_made

Join, Joinable, JoinHook = (_never_made("algorithms.join." + name) for name in ("Join", "Joinable", "JoinHook"))
