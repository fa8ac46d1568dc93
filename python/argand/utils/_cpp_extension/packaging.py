"""Extensions that a setup.py builds: CppExtension, CUDAExtension and BuildExtension."""
import os
import shlex

import setuptools
from setuptools.command.build_ext import build_ext

from ..._ignored import harmless
from . import building, compilers, places


def CppExtension(name, sources, *args, **kwargs):
    """A setuptools.Extension in C++ that is built against Argand, for setup(ext_modules=[...], cmdclass={"build_ext": BuildExtension})."""
    kwargs.setdefault("language", "c++")
    return setuptools.Extension(name, [os.fspath(path) for path in sources], *args, **kwargs)


def CUDAExtension(name, sources, *args, **kwargs):
    """The same with CUDA: sources that end in .cu are compiled by nvcc.  OSError if there is no CUDA toolkit."""
    places.cuda_home()
    if kwargs.pop("dlink", False) or kwargs.pop("dlink_libraries", None):
        raise NotImplementedError(f"torch.utils.cpp_extension.CUDAExtension: {name}: dlink: the device code of several sources is not linked; "
                                  "kernels that call each other have to stand in one source")
    extension = CppExtension(name, sources, *args, **kwargs)
    extension.argand_with_cuda = True
    return extension


class BuildExtension(build_ext):
    """setuptools' build_ext for CppExtension and CUDAExtension.

    extra_compile_args of an extension may be a dict of lists, {"cxx": [...], "nvcc": [...]}.  Sources are compiled several at a time,
    and only those that changed.
    """

    @classmethod
    def with_options(cls, **options):
        """The class with keyword arguments set: with_options(no_python_abi_suffix=True)."""
        class WithOptions(cls):
            def __init__(self, *args, **kwargs):
                super().__init__(*args, **{**kwargs, **options})
        return WithOptions

    @harmless(use_ninja="changed sources are compiled, several at a time, with ninja and without")
    def __init__(self, *args, no_python_abi_suffix=False, use_ninja=True, **kwargs):
        super().__init__(*args, **kwargs)
        self.no_python_abi_suffix = no_python_abi_suffix

    def build_extension(self, ext):
        """Compiles and links one extension."""
        out = os.path.abspath(self.get_ext_fullpath(ext.name))
        os.makedirs(os.path.dirname(out), exist_ok=True)
        os.makedirs(self.build_temp, exist_ok=True)
        with building.locked(self.build_temp):
            steps = [self._compiled(ext, source) for source in ext.sources]
            building.run_all(steps, ext.name, verbose=bool(self.verbose))
            objects = [os.path.abspath(path) for path in ext.extra_objects]
            flags = [*(f"-L{folder}" for folder in ext.library_dirs), *(f"-Wl,-rpath,{folder}" for folder in ext.runtime_library_dirs),
                     *(f"-l{name}" for name in ext.libraries), *(ext.extra_link_args or ())]
            inputs = [step.out for step in steps] + objects
            linked = building.Step(compilers.link_command(inputs, out, flags, self._with_cuda(ext)), out, [*inputs, places.library()])
            linked.run(ext.name, verbose=bool(self.verbose))
        os.remove(out + ".command")  # what is beside the module is installed

    @staticmethod
    def _with_cuda(ext):
        return getattr(ext, "argand_with_cuda", False) or any(path.endswith(compilers.CUDA_ENDS) for path in ext.sources)

    def _compiled(self, ext, source):
        source = os.path.abspath(source)
        if not source.endswith((".cpp", ".cc", ".cxx", ".c++", ".C", *compilers.CUDA_ENDS)):
            raise ValueError(f"{ext.name}: sources: expected sources in C++ or CUDA, got {source}")
        out = os.path.abspath(os.path.join(self.build_temp, ext.name, os.path.relpath(source).replace("..", "__").lstrip("/") + ".o"))
        os.makedirs(os.path.dirname(out), exist_ok=True)
        given = ext.extra_compile_args or []
        is_cuda = source.endswith(compilers.CUDA_ENDS)
        flags = given.get("nvcc" if is_cuda else "cxx", []) if isinstance(given, dict) else given
        macros = [f"-D{name}" if value is None else f"-D{name}={value}" for name, value in ext.define_macros]
        flags = [*macros, *(f"-U{name}" for name in ext.undef_macros), *flags]
        folders = [os.path.abspath(folder) for folder in (*ext.include_dirs, *(self.include_dirs or ()))]
        name = ext.name.rpartition(".")[2]
        if is_cuda:
            command = compilers.nvcc_command(source, out, name, ["-O2", *flags], folders, whose="extra_compile_args")
        else:
            own = shlex.split(os.environ.get("CFLAGS", "") + " " + os.environ.get("CXXFLAGS", ""))
            command = compilers.cxx_command(source, out, name, ["-O2", *own, *flags], folders, self._with_cuda(ext),
                                            whose="extra_compile_args")
        return building.Step(command, out, [source, *ext.depends])

    def get_ext_filename(self, ext_name):
        """The module's file, without the Python version in its name if no_python_abi_suffix."""
        found = super().get_ext_filename(ext_name)
        if not self.no_python_abi_suffix:
            return found
        parts = found.split(".")
        return ".".join(parts[:-2] + parts[-1:])
