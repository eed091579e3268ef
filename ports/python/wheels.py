"""Builds the sdist, and a wheel for each platform, into dist, and checks them. It needs Go, and the packages
of release.md: ziglang has a compiler that links for every platform but macOS. The wheels for macOS are built on
a Mac.

    python wheels.py [PLATFORM ...]
"""

import os
import pathlib
import re
import shutil
import stat
import subprocess
import sys
import tempfile
import venv
import zipfile

# The tag of a wheel: GOOS, GOARCH, the target of zig, the machine that the library names, and
# what runs a program of Linux here.
PLATFORMS = {
    "manylinux_2_17_x86_64": ("linux", "amd64", "x86_64-linux-gnu.2.17", "EM_X86_64", ["env"]),
    "manylinux_2_17_aarch64": ("linux", "arm64", "aarch64-linux-gnu.2.17", "EM_AARCH64", ["qemu-aarch64-static", "-L", "/usr/aarch64-linux-gnu"]),
    "win_amd64": ("windows", "amd64", "x86_64-windows-gnu", 0x8664, []),
    "win_arm64": ("windows", "arm64", "aarch64-windows-gnu", 0xAA64, []),
}

# Those that Apple's compiler builds: GOARCH, and the name that this compiler has for it.
MAC = {"macosx_12_0_arm64": ("arm64", "arm64"), "macosx_12_0_x86_64": ("amd64", "x86_64")}

# The C compiler. Zig's linker takes the symbols that a library shows from another kind of file.
COMPILER = """#!{python}
import subprocess, sys
args = ["-Wl,--version-script={script}" if a.endswith("/exports.so") else a for a in sys.argv[1:]]
sys.exit(subprocess.call([{python!r}, "-m", "ziglang", "cc", "-target", "{target}", *args]))
"""

here = pathlib.Path(__file__).resolve().parent
capi = here.parent / "capi"


def run(*command, **options):
    return subprocess.run(list(command), check=True, text=True, **options)


def build(platform, **env):
    shutil.rmtree(here / "build", ignore_errors=True)  # or the wheel would get the library of another platform, too
    run(sys.executable, "-m", "build", "--wheel", f"--config-setting=--build-option=--plat-name={platform}", cwd=here, env=os.environ | env)


def wheel(platform):
    if platform in MAC:
        machine, name = MAC[platform]
        return build(platform, GOOS="darwin", GOARCH=machine, CC=f"clang -arch {name}", MACOSX_DEPLOYMENT_TARGET="12.0")
    system, machine, target, _, _ = PLATFORMS[platform]
    with tempfile.TemporaryDirectory() as folder:
        script, compiler = pathlib.Path(folder, "exports.map"), pathlib.Path(folder, "cc")
        script.write_text(re.search(r"VERSION \{(.*)\}", (capi / "exports.so").read_text(), re.S)[1])
        compiler.write_text(COMPILER.format(python=sys.executable, script=script, target=target))
        compiler.chmod(compiler.stat().st_mode | stat.S_IXUSR)
        build(platform, GOOS=system, GOARCH=machine, CC=str(compiler))
    check(platform)


def check(platform):
    """Ends unless the library of the wheel is for the platform, shows the functions of revnum.h, and the
    program of ports/README.md links with it and, where it can run, prints what it should."""
    system, _, target, machine, runner = PLATFORMS[platform]
    file = max((here / "dist").glob(f"*{platform}.whl"), key=os.path.getmtime)
    with tempfile.TemporaryDirectory() as folder:
        zipfile.ZipFile(file).extractall(folder)
        libraries = [p.name for p in pathlib.Path(folder, "revnum").iterdir() if p.suffix in (".so", ".dll")]
        assert len(libraries) == 1, f"{file.name}: libraries {libraries}"
        if system == "windows":
            import pefile

            library, program = pathlib.Path(folder, "revnum", "revnum.dll"), pathlib.Path(folder, "norm.exe")
            pe = pefile.PE(str(library))
            found, names = pe.FILE_HEADER.Machine, {s.name.decode() for s in pe.DIRECTORY_ENTRY_EXPORT.symbols}
            names = {n for n in names if not re.match("go[A-Z]", n)}  # those that cgo exports by itself
        else:
            from elftools.elf.elffile import ELFFile

            library, program = pathlib.Path(folder, "revnum", "librevnum.so"), pathlib.Path(folder, "norm")
            with library.open("rb") as f:
                elf = ELFFile(f)
                found = elf["e_machine"]
                symbols = elf.get_section_by_name(".dynsym").iter_symbols()
                names = {s.name for s in symbols if s["st_shndx"] != "SHN_UNDEF" and s["st_info"]["bind"] == "STB_GLOBAL"}
            said = run(sys.executable, "-m", "auditwheel", "show", str(file), capture_output=True).stdout
            assert f'tag: "{platform}"' in " ".join(said.split()), said
        assert found == machine, f"{file.name}: the library is for machine {found}"
        declared = set(re.findall(r"^REV_API.*?(\w+)\(", (capi / "revnum.h").read_text(), re.M))
        assert names == declared, f"{file.name}: the library and revnum.h differ in {sorted(names ^ declared)}"

        source = program.with_suffix(".c")
        source.write_text(re.search(r"```c\n(.*?)```", (here.parent / "README.md").read_text(), re.S)[1])
        rpath = [] if system == "windows" else ["-Wl,-rpath,$ORIGIN/revnum"]
        run(sys.executable, "-m", "ziglang", "cc", "-target", target, f"-I{capi}", str(source), str(library), "-o", str(program), *rpath)
        if system != sys.platform or not shutil.which(runner[0]):
            return print(f"{file.name}: checked, not run")
        printed = run(*runner, str(program), capture_output=True).stdout
        assert printed == "3.74166, [0.267261 0.534522 0.801784]\n", printed
        print(f"{file.name}: checked, and its library ran")


def sdist():
    """Builds the sdist, installs it into an empty environment, and makes a call."""
    run(sys.executable, "-m", "build", "--sdist", cwd=here)
    file = max((here / "dist").glob("revnum-*.tar.gz"), key=os.path.getmtime)
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        python = pathlib.Path(folder, "bin", "python")
        run(python, "-m", "pip", "install", "-q", str(file))
        printed = run(python, "-c", "import numpy as np, revnum.numpy as rn; print(rn.revlinalg.Norm2(np.array([3.0, 4.0])))", capture_output=True, cwd=folder).stdout
        assert printed == "5.0\n", printed
    print(f"{file.name}: built from itself, and its library ran")


if __name__ == "__main__":
    for platform in sys.argv[1:] or (MAC if sys.platform == "darwin" else PLATFORMS):
        wheel(platform)
    if not sys.argv[1:] and sys.platform != "darwin":
        sdist()
    run(sys.executable, "-m", "twine", "check", "--strict", *map(str, (here / "dist").glob("revnum-*")))
