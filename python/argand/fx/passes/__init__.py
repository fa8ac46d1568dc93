"""Passes: functions that analyse or transform graphs."""
