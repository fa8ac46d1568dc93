"""Programs that read or change graphs."""
