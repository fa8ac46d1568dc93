"""Archives of code and models, as torch.package: names.  Code is not read from files."""
from ._refused import refused_class

__path__ = []  # PyTorch has modules below it: see _named_modules.py

PackageExporter, PackageImporter = (refused_class("torch.package." + name, "code is not read from files; torch.save keeps data")
                                    for name in ("PackageExporter", "PackageImporter"))
