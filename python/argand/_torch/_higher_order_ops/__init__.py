"""Ops that take functions: the one that published models call."""
from .associative_scan import associative_scan as associative_scan
