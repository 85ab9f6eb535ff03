"""python -m flashloom: the versions and places of the runtime and of the default kernel library, and what is in it."""

from __future__ import annotations

import sys

from . import _capi
from ._errors import FlashloomError
from ._library import default_library
from ._version import __version__


def main() -> int:
    path = _capi.runtime_path()
    print(f"flashloom {__version__}")
    try:
        number = _capi.open_runtime(path).fa_version()
        print(f"runtime {number // 10000}.{number // 100 % 100}.{number % 100}: {path}")
        print(default_library().describe())
    except FlashloomError as error:
        print(f"flashloom: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
