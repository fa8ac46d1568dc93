"""Exported programs, as torch.export: only names, for annotations and isinstance().  There are none."""
from ._refused import refused, refused_class

__path__ = []  # PyTorch has modules below it: see _named_modules.py

__all__ = ["AdditionalInputs", "Constraint", "CustomDecompTable", "Dim", "ExportBackwardSignature", "ExportGraphSignature",
           "ExportedProgram", "FlatArgsAdapter", "ModuleCallEntry", "ModuleCallSignature", "ShapesCollection", "UnflattenedModule",
           "default_decompositions", "dims", "draft_export", "export", "load", "register_dataclass", "save", "unflatten"]

globals().update({name: (refused if name[0].islower() else refused_class)(
    "torch.export." + name, "calls are not traced into programs; torch.fx.symbolic_trace makes graphs of modules") for name in __all__})
Dim.AUTO, Dim.DYNAMIC, Dim.STATIC = (f"Dim.{name}" for name in ("AUTO", "DYNAMIC", "STATIC"))  # noqa: F821 -- to compare with
