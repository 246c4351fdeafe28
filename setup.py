"""What pyproject.toml can't say: the compiled reader, which may fail to compile."""

import sys

from Cython.Build import cythonize
from setuptools import Extension, setup


def compiled(name: str) -> Extension:
    """A part of the reader at inference."""
    return Extension(
        f"refreader_spacy.reader.kernels.{name}",
        [f"refreader_spacy/reader/kernels/{name}.pyx"],
        depends=["refreader_spacy/reader/kernels/gru.h"],
        libraries=[] if sys.platform == "win32" else ["m"],
        # Sums may be added up in any order, so that several are at once. For these
        # files alone: linked with it, it would change how the whole process treats
        # small numbers.
        extra_compile_args=(
            [] if sys.platform == "win32" else ["-O3", "-ffast-math", "-g0"]
        ),
    )


modules = cythonize([compiled("names")])
for module in modules:
    module.optional = True  # without a compiler, NumPy reads; cythonize forgets it
setup(ext_modules=modules)
