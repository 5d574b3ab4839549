"""Describes the machine and its software."""

import datetime
import os
import platform
import subprocess
from pathlib import Path

FLAGS = ("sse4_2", "avx", "avx2", "fma", "avx512f", "avx512dq", "avx512vl", "asimd", "sve")


def describe(env, command, load):
    """The machine, its software, and the command."""
    info = cpu_info()
    flags = (info.get("flags") or info.get("Features") or "").split()
    versions = env.peer("versions")[0]
    if env.torch_python:
        code = "from importlib import metadata; print(metadata.version('torch'))"
        versions["torch"] = output([env.torch_python, "-c", code])
    return {
        "date": datetime.date.today().isoformat(),
        "command": command,
        "commit": commit(),
        "cpu": info.get("model name") or platform.processor() or platform.machine(),
        "cores": os.cpu_count(),
        "threads": env.threads,
        "memory_bytes": memory_bytes(),
        "simd": [flag for flag in FLAGS if flag in flags],
        "system": f"{platform.system()} {platform.release().split('-')[0]}, {platform.machine()}",
        "rustc": output(["rustc", "--version"]),
        "load": load,
        "versions": versions,
    }


def cpu_info():
    """The entry of the first processor in /proc/cpuinfo."""
    file = Path("/proc/cpuinfo")
    if not file.exists():
        return {}
    lines = file.read_text().split("\n\n")[0].splitlines()
    pairs = (line.split(":", 1) for line in lines if ":" in line)
    return {name.strip(): value.strip() for name, value in pairs}


def memory_bytes():
    """The physical memory of the machine."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def commit():
    """The commit, and whether there are uncommitted changes."""
    short = output(["git", "rev-parse", "--short", "HEAD"])
    changed = output(["git", "status", "--porcelain", "--untracked-files=no", "--", "crates", "bench", "Cargo.lock"])
    return f"{short}, with changes" if changed else short


def output(command):
    """The output of a command, or an empty string if it fails."""
    try:
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    except OSError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""
