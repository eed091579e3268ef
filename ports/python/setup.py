"""Builds the library of ports/capi with Go and puts it into the wheel."""

import pathlib
import shutil
import subprocess

from setuptools import Distribution, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_py import build_py

here = pathlib.Path(__file__).resolve().parent


class BuildWithLibrary(build_py):
    def run(self):
        super().run()
        # An editable installation uses the sources, so the library lies beside them.
        folder = here / "revnum" if self.editable_mode else pathlib.Path(self.build_lib).resolve() / "revnum"
        folder.mkdir(parents=True, exist_ok=True)
        out = folder / "librevnum.so"
        command = ["go", "build", "-buildmode=c-shared", "-ldflags=-s -w", "-o", str(out), "./ports/capi"]
        try:
            subprocess.run(command, cwd=here.parents[1], check=True)
        except FileNotFoundError:
            raise SystemExit("revnum: Go is needed to build the library: https://go.dev/dl") from None
        if not self.editable_mode:
            shutil.copy(here.parents[1] / "docs" / "rules.json", folder)
        (folder / "librevnum.h").unlink(missing_ok=True)  # revnum.h is the header


class Wheel(bdist_wheel):
    def get_tag(self):
        _, _, platform = super().get_tag()
        return "py3", "none", platform  # the library does not know Python


class WithLibrary(Distribution):
    def has_ext_modules(self):
        return True


setup(cmdclass={"build_py": BuildWithLibrary, "bdist_wheel": Wheel}, distclass=WithLibrary)
