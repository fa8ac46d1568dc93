"""What `import torch` means under `python -m argand`.

Files whose names begin with an underscore are PyTorch's private modules: argand._torch._dynamo is torch._dynamo.  They show names of
argand's files and have what only programs ask for, so nothing of argand imports them.  Of the others, view.py makes the module torch,
install.py has the import system find it, and renames.py has its
things say torch.  functorch is the package of that name.
"""
