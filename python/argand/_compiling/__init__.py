"""torch.compile and torch.compiler: models.py has compile(), calls.py what runs a backend of the program's own."""
