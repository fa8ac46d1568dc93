"""What torch.utils.cpp_extension is made of: where headers and compilers are, how sources are compiled, and who asks for it."""
