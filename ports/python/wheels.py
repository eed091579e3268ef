"""Builds the sdist, and a wheel for each platform, into dist. It needs Go, and the packages build and
ziglang, whose compiler links for every platform but macOS. The wheels for macOS are built on a Mac.

    python wheels.py [PLATFORM ...]
"""

import os
import pathlib
import re
import stat
import subprocess
import sys
import tempfile

# The tag of a wheel: GOOS, GOARCH and the target of zig.
PLATFORMS = {
    "manylinux_2_17_x86_64": ("linux", "amd64", "x86_64-linux-gnu.2.17"),
    "manylinux_2_17_aarch64": ("linux", "arm64", "aarch64-linux-gnu.2.17"),
    "win_amd64": ("windows", "amd64", "x86_64-windows-gnu"),
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


def build(platform, **env):
    command = [sys.executable, "-m", "build", "--wheel", f"--config-setting=--build-option=--plat-name={platform}"]
    subprocess.run(command, cwd=here, env=os.environ | env, check=True)


def wheel(platform):
    if platform in MAC:
        machine, name = MAC[platform]
        return build(platform, GOOS="darwin", GOARCH=machine, CC=f"clang -arch {name}", MACOSX_DEPLOYMENT_TARGET="12.0")
    system, machine, target = PLATFORMS[platform]
    with tempfile.TemporaryDirectory() as folder:
        script, compiler = pathlib.Path(folder, "exports.map"), pathlib.Path(folder, "cc")
        exports = (here.parent / "capi" / "exports.so").read_text()
        script.write_text(re.search(r"VERSION \{(.*)\}", exports, re.S)[1])
        compiler.write_text(COMPILER.format(python=sys.executable, script=script, target=target))
        compiler.chmod(compiler.stat().st_mode | stat.S_IXUSR)
        build(platform, GOOS=system, GOARCH=machine, CC=str(compiler))


if __name__ == "__main__":
    for platform in sys.argv[1:] or (MAC if sys.platform == "darwin" else PLATFORMS):
        wheel(platform)
    if not sys.argv[1:] and sys.platform != "darwin":
        subprocess.run([sys.executable, "-m", "build", "--sdist"], cwd=here, check=True)
