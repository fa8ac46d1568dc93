"""The base classes of passes."""
