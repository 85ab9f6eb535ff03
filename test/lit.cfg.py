# Flashloom's lit suite. Features: ptxas, gpu, clang-format, git, pkg-config, pip, torch, thread-sanitizer, address-sanitizer,
# and the machine's name (x86_64).
#   --param verify-roundtrip=1   fa-opt prints, parses and compares each test's IR before the passes run
#   --param torch-python=PATH    the Python that has PyTorch (the build's own)
import os
import platform
import re
import shutil
import subprocess
import sys

import lit.formats

config.name = "Flashloom"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["Inputs"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.fa_binary_dir, "test")

CUDA_BIN = "/usr/local/cuda/bin"
TIMEOUT_SECONDS = 360
# Other releases format some of our code differently. This is Debian 12's.
CLANG_FORMAT_MAJOR = 14

# Exits with 0 where the CUDA driver sees a GPU. A process of its own, so that lit does not hold the driver.
GPU_PROBE = """
import ctypes, sys
driver = ctypes.CDLL("libcuda.so.1")
count = ctypes.c_int()
sys.exit(driver.cuInit(0) or driver.cuDeviceGetCount(ctypes.byref(count)) or count.value == 0)
"""

# Exits with 0 where PyTorch is installed and has torch.library.custom_op, without the seconds of importing it.
TORCH_PROBE = """
import importlib.metadata, sys
sys.exit(tuple(map(int, importlib.metadata.version("torch").split(".")[:2])) < (2, 4))
"""


def succeeds(*command):
    try:
        return subprocess.run(command, capture_output=True, timeout=60).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


def has_clang_format():
    try:
        version = subprocess.run(["clang-format", "--version"], capture_output=True, text=True).stdout
    except OSError:
        return False
    return f"version {CLANG_FORMAT_MAJOR}." in version


path = [os.path.join(config.fa_binary_dir, "bin"), config.llvm_tools_dir, os.environ["PATH"]]
if not shutil.which("ptxas"):
    path.append(CUDA_BIN)
config.environment["PATH"] = os.pathsep.join(path)
for name in ["CUDA_VISIBLE_DEVICES", "HOME", "LD_LIBRARY_PATH"]:
    if name in os.environ:
        config.environment[name] = os.environ[name]

# No table of measured schedules but the one that fa-gen was built with.
config.environment["XDG_CONFIG_HOME"] = os.path.join(config.test_exec_root, "no-configuration")

config.available_features.add(platform.machine())
if shutil.which("ptxas", path=config.environment["PATH"]):
    config.available_features.add("ptxas")
if succeeds(sys.executable, "-c", GPU_PROBE):
    config.available_features.add("gpu")
if has_clang_format():
    config.available_features.add("clang-format")
if succeeds("git", "-C", config.fa_source_dir, "ls-files"):
    config.available_features.add("git")
if shutil.which("pkg-config"):
    config.available_features.add("pkg-config")
for program, feature in [("threads", "thread-sanitizer"), ("fuzz", "address-sanitizer")]:
    if os.path.exists(os.path.join(config.fa_binary_dir, "bin", f"fa-runtime-{program}")):
        config.available_features.add(feature)
plain_addresses = "setarch --addr-no-randomize" if succeeds("setarch", "--addr-no-randomize", "true") else ""
if succeeds(sys.executable, "-m", "pip", "--version"):
    config.available_features.add("pip")
torch_python = lit_config.params.get("torch-python", config.python)
if succeeds(torch_python, "-c", TORCH_PROBE):
    config.available_features.add("torch")

# A tool's name where it is a word of its own becomes its path, under a time limit (lit's own limit needs a Python
# package that may be missing). By KILL: the `not` tool takes the end by a signal for a failure.
for tool in ["fa-opt", "fa-run", "fa-gen", "fa-lsp-server", "fa-fuzz", "fa-bench"]:
    command = f"timeout -s KILL {TIMEOUT_SECONDS} {os.path.join(config.fa_binary_dir, 'bin', tool)}"
    if tool == "fa-opt" and lit_config.params.get("verify-roundtrip", "0") not in ("", "0"):
        command += " --verify-roundtrip"
    config.substitutions.append((r"(?<![\w./=-])" + re.escape(tool) + r"(?![\w./-])", command))

config.substitutions += [
    ("%python", config.python),
    ("%plain_addresses", plain_addresses),
    ("%torch_python", torch_python),
    ("%fake_cuda", os.path.join(config.fa_binary_dir, "runtime", "test", "fake-cuda", "libcuda.so.1")),
    ("%cmake", config.cmake),
    ("%cc", config.cc),
    ("%nm", config.nm),
    ("%fa_source", config.fa_source_dir),
    ("%fa_build", config.fa_binary_dir),
    ("%fa_bin", os.path.join(config.fa_binary_dir, "bin")),
    ("%fa_lib", os.path.join(config.fa_binary_dir, "lib")),
]
