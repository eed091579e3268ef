"""Builds the library of ports/capi with Go and puts it into the wheel. GOOS, GOARCH and CC may
name another platform, as wheels.py does."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

from setuptools import Distribution, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_py import build_py
from setuptools.command.sdist import sdist

here = pathlib.Path(__file__).resolve().parent
source = here / "source"  # of an sdist
if not source.exists():
    source = here.parents[1]
sys.path.insert(0, str(here))
import stubs


def tools():
    """Ends in one line if there is no Go that is new enough, or no C compiler."""
    want = re.search(r"^go ([\d.]+)", (source / "go.mod").read_text(), re.M)[1]
    if not shutil.which("go"):
        raise SystemExit(f"revnum: the library is built by Go {want} or later, and there is no go: https://go.dev/dl. Or install a wheel.")
    r = subprocess.run(["go", "env", "GOVERSION", "CC"], cwd=source, capture_output=True, text=True)
    if r.returncode:
        raise SystemExit(f"revnum: the library is built by Go {want} or later: {r.stderr.strip().splitlines()[-1]}")
    compiler = os.environ.get("CC") or r.stdout.splitlines()[1]
    if not shutil.which(compiler.split()[0]):
        raise SystemExit(f"revnum: the library is built by a C compiler, and there is no {compiler}: install gcc or clang, or set CC. Or install a wheel.")


def library():
    """The name of the library, which revnum/_library.py knows too."""
    system = os.environ.get("GOOS") or {"win32": "windows"}.get(sys.platform, sys.platform)
    return {"windows": "revnum.dll", "darwin": "librevnum.dylib"}.get(system, "librevnum.so")


def packages():
    """The Go packages of the library, as go list describes them."""
    r = subprocess.run(["go", "list", "-deps", "-json=ImportPath,Dir,Module,Standard,GoFiles,CgoFiles,CFiles,HFiles,SFiles,EmbedFiles,IgnoredGoFiles,IgnoredOtherFiles", "./ports/capi"], cwd=source, check=True, capture_output=True, text=True)
    decoder, text, found = json.JSONDecoder(), r.stdout.strip(), []
    while text:
        package, end = decoder.raw_decode(text)
        found.append(package)
        text = text[end:].lstrip()
    return [p for p in found if not p.get("Standard")]


def licences():
    """Copies the licences of revnum, and of what is linked to it, beside this file."""
    folder = here / "licenses"
    if source == here / "source" or not shutil.which("go"):
        return
    folder.mkdir(exist_ok=True)
    shutil.copy(source / "LICENSE", here / "LICENSE")
    goroot = subprocess.run(["go", "env", "GOROOT"], cwd=source, check=True, capture_output=True, text=True).stdout.strip()
    linked = {"go": pathlib.Path(goroot)}
    for p in packages():
        module = p["Module"]
        if not module.get("Main"):
            linked[module["Path"].replace("/", "_")] = pathlib.Path(module["Dir"])
    for name, root in linked.items():
        file = next(iter(sorted(root.glob("LICENSE*"))), None)
        if file:
            shutil.copyfile(file, folder / f"{name}.txt")


class BuildWithLibrary(build_py):
    def run(self):
        super().run()
        # An editable installation uses the sources, so the library lies beside them.
        folder = here / "revnum" if self.editable_mode else pathlib.Path(self.build_lib).resolve() / "revnum"
        folder.mkdir(parents=True, exist_ok=True)
        tools()
        command = ["go", "build", "-buildmode=c-shared", "-ldflags=-s -w", "-o", str(folder / library()), "./ports/capi"]
        if subprocess.run(command, cwd=source, env=os.environ | {"CGO_ENABLED": "1"}).returncode:
            raise SystemExit("revnum: Go could not build the library; its messages are above")
        (folder / library()).with_suffix(".h").unlink(missing_ok=True)  # revnum.h is the header
        if not self.editable_mode:
            shutil.copy(source / "docs" / "rules.json", folder)
        stubs.write(source / "docs" / "rules.json", folder / "_kernels.pyi")


class Wheel(bdist_wheel):
    def get_tag(self):
        _, _, platform = super().get_tag()
        return "py3", "none", platform  # the library links with no Python


class WithSource(sdist):
    """An sdist with the Go source of the library, so that it builds from itself."""

    def make_release_tree(self, base_dir, files):
        super().make_release_tree(base_dir, files)
        to = pathlib.Path(base_dir) / "source"
        wanted = ["go.mod", "go.sum", "LICENSE", "docs/rules.json", "ports/capi/exports.so"]
        for p in packages():
            if p["Module"].get("Main"):
                folder = pathlib.Path(p["Dir"]).relative_to(source)
                for kind in ("GoFiles", "CgoFiles", "CFiles", "HFiles", "SFiles", "EmbedFiles", "IgnoredGoFiles", "IgnoredOtherFiles"):
                    wanted += [folder / name for name in p.get(kind) or []]
        for name in wanted:
            (to / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source / name, to / name)


class WithLibrary(Distribution):
    def has_ext_modules(self):
        return True


licences()
setup(cmdclass={"build_py": BuildWithLibrary, "bdist_wheel": Wheel, "sdist": WithSource}, distclass=WithLibrary)
