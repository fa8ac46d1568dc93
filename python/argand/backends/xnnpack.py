"""XNNPACK, a library of products for telephones: it is not there."""
enabled = False
