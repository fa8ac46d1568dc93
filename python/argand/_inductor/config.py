"""Options of a compiler that is not there: they are kept, and read by nobody; what was not set is not there."""
size_asserts = True
