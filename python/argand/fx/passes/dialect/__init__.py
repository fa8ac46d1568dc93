"""Passes that know the ops of a dialect."""
