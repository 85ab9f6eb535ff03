"""Builds the wheel, also one that brings the runtime and a kernel library. A PEP 517 backend that needs nothing but Python, so
that a machine without a package index can build it.

    pip wheel ./runtime/python --config-settings runtime=/path/libfa_runtime.so --config-settings kernels=/path/out

`runtime` is the shared library, `kernels` a folder that fa-gen wrote; paths are absolute, since pip runs this elsewhere than
where it was called.
"""

from __future__ import annotations

import base64
import hashlib
import io
import json
import re
import sysconfig
import tarfile
import zipfile
import zlib
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[1]
PACKAGE = PROJECT / "flashloom"
RUNTIME = "flashloom/lib/libfa_runtime.so"

_METADATA = """\
Metadata-Version: 2.1
Name: flashloom
Version: {version}
Summary: Attention by kernels compiled ahead of time, on PyTorch tensors
License: Apache-2.0 WITH LLVM-exception
Requires-Python: >=3.9
Provides-Extra: torch
Requires-Dist: torch>=2.4; extra == "torch"
Description-Content-Type: text/markdown

{readme}"""

_WHEEL = """\
Wheel-Version: 1.0
Generator: flashloom_backend {version}
Root-Is-Purelib: {pure}
Tag: {tag}
"""


class BadSetting(ValueError):
    """A config setting that names nothing that can travel in a wheel."""


def _version() -> str:
    (version,) = re.findall(r'^__version__ = "(.+)"$', (PACKAGE / "_version.py").read_text(), re.MULTILINE)
    return version


def _metadata() -> str:
    return _METADATA.format(version=_version(), readme=(PROJECT / "README.md").read_text())


def _sources() -> dict[str, bytes]:
    files = [*sorted(PACKAGE.glob("*.py")), PACKAGE / "py.typed"]
    return {f"flashloom/{file.name}": file.read_bytes() for file in files}


# -- What travels with the package -------------------------------------------


def _path(settings: dict, name: str) -> Path | None:
    value = settings.get(name)
    if value is None:
        return None
    if not isinstance(value, str) or not Path(value).is_absolute():
        raise BadSetting(f"config setting {name}: must be one absolute path (found {value!r})")
    return Path(value)


def _runtime(path: Path) -> dict[str, bytes]:
    if not path.is_file() or not path.read_bytes().startswith(b"\x7fELF"):
        raise BadSetting(f"config setting runtime: {path} is not a shared library; ninja fa_runtime_shared makes it")
    return {RUNTIME: path.read_bytes()}


def _kernels(folder: Path) -> dict[str, bytes]:
    """The manifest of a library and the files that it names, which must be those that were compiled."""
    try:
        text = (folder / "manifest.json").read_bytes()
        manifest = json.loads(text)
        files = {"flashloom/kernels/manifest.json": text}
        for entry in (*manifest["kernels"], *manifest.get("programs", [])):
            data = (folder / entry["file"]).read_bytes()
            if "crc32" in entry and entry["crc32"] != zlib.crc32(data):
                raise BadSetting(f"config setting kernels: {folder / entry['file']} is not the file that was compiled")
            files[f"flashloom/kernels/{entry['file']}"] = data
    except (OSError, json.JSONDecodeError, KeyError, TypeError) as error:
        raise BadSetting(f"config setting kernels: {folder} is not a library as fa-gen writes it: {error!r}") from error
    return files


def _bundle(settings: dict) -> dict[str, bytes]:
    unknown = sorted(set(settings) - {"runtime", "kernels"})
    if unknown:
        raise BadSetting(f"config settings are runtime and kernels (found {', '.join(unknown)})")
    runtime, kernels = _path(settings, "runtime"), _path(settings, "kernels")
    return {**(_runtime(runtime) if runtime else {}), **(_kernels(kernels) if kernels else {})}


# -- The wheel ---------------------------------------------------------------


def _record_line(name: str, data: bytes) -> str:
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    return f"{name},sha256={digest},{len(data)}\n"


def _write_wheel(directory: str, files: dict[str, bytes]) -> str:
    """Writes a wheel of the files and returns its name; the same files give the same bytes."""
    pure = RUNTIME not in files
    platform = "any" if pure else re.sub(r"[-.]", "_", sysconfig.get_platform())
    tag = f"py3-none-{platform}"
    info = f"flashloom-{_version()}.dist-info"
    files = {
        **files,
        f"{info}/METADATA": _metadata().encode(),
        f"{info}/WHEEL": _WHEEL.format(version=_version(), pure=str(pure).lower(), tag=tag).encode(),
    }
    record = "".join(_record_line(name, data) for name, data in files.items()) + f"{info}/RECORD,,\n"
    name = f"flashloom-{_version()}-{tag}.whl"
    with zipfile.ZipFile(Path(directory, name), "w", zipfile.ZIP_DEFLATED) as archive:
        for path, data in {**files, f"{info}/RECORD": record.encode()}.items():
            entry = zipfile.ZipInfo(path)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, data)
    return name


# -- PEP 517 and 660 ---------------------------------------------------------


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    return _write_wheel(wheel_directory, {**_sources(), **_bundle(config_settings or {})})


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    """A wheel that points at this folder."""
    return _write_wheel(wheel_directory, {"flashloom.pth": f"{PROJECT}\n".encode()})


def build_sdist(sdist_directory, config_settings=None):
    root = f"flashloom-{_version()}"
    files = {
        **_sources(),
        "PKG-INFO": _metadata().encode(),
        **{
            name: (PROJECT / name).read_bytes()
            for name in ("pyproject.toml", "README.md", "backend/flashloom_backend.py")
        },
    }
    with tarfile.open(Path(sdist_directory, f"{root}.tar.gz"), "w:gz", format=tarfile.PAX_FORMAT) as archive:
        for name, data in files.items():
            entry = tarfile.TarInfo(f"{root}/{name}")
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    return f"{root}.tar.gz"
