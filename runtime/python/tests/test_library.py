"""Libraries: opening, the default, listing, and errors. Without PyTorch."""

import os
import re
import subprocess
import sys
import threading
import unittest
from pathlib import Path
from unittest import mock

from support import Folder, kernel

import flashloom
from flashloom import FlashloomError, _capi, _library


class WithoutPyTorch(unittest.TestCase):
    def test_a_function_on_tensors_says_what_is_missing(self):
        program = "import sys; sys.modules['torch'] = None; import flashloom; flashloom.attention"
        path = str(Path(__file__).resolve().parents[1])
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env={**os.environ, "PYTHONPATH": path})
        self.assertEqual(done.returncode, 1)
        self.assertIn("flashloom.attention needs PyTorch: pip install torch", done.stderr)


class Libraries(unittest.TestCase):
    def setUp(self):
        self.folder = Folder(
            kernel("a", gqa=False, head_dim_v=16),
            kernel("b", variant="causal", arch="sm_90a"),
            kernel("c", variant="causal", format="ptx"),
        )
        self.addCleanup(self.folder.cleanup)
        for name in ("_default", "_open"):
            patch = mock.patch.object(_library, name, None if name == "_default" else {})
            patch.start()
            self.addCleanup(patch.stop)

    def test_kernels(self):
        library = flashloom.load(self.folder.name)
        first = library.kernels[0]
        self.assertEqual([k.name for k in library.kernels], ["a", "b", "c"])
        self.assertEqual((first.dtype, first.head_dim, first.head_dim_v, first.gqa), ("bf16", 8, 16, False))
        self.assertEqual((first.arch, first.variant, first.block, first.registers), ("sm_80", "full", 128, 64))

    def test_description_has_a_line_for_each_problem(self):
        text = flashloom.load(self.folder.name).describe()
        self.assertIn("  bf16, head_dim 8, head_dim_v 16, kv_heads as heads, variant full: sm_80", text)
        self.assertIn("  bf16, head_dim 8, variant causal: sm_90a, sm_80 (ptx)", text)

    def test_a_folder_is_opened_once(self):
        library = flashloom.load(self.folder.name)
        self.assertIs(flashloom.load(Path(self.folder.name)), library)
        self.assertIs(flashloom.load(os.path.relpath(self.folder.name)), library)

    def test_a_folder_is_opened_once_by_many_threads(self):
        found, barrier = [], threading.Barrier(8)

        def run():
            barrier.wait()
            found.append(flashloom.load(self.folder.name))

        threads = [threading.Thread(target=run) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(len(set(map(id, found))), 1)

    def test_the_default_is_what_load_named_last(self):
        other = Folder(kernel("other"))
        self.addCleanup(other.cleanup)
        flashloom.load(self.folder.name)
        library = flashloom.load(other.name)
        self.assertIs(_library.find(""), library)

    def test_the_environment_names_the_default(self):
        with mock.patch.dict(os.environ, {_library.LIBRARY_VARIABLE: self.folder.name}):
            self.assertEqual(_library.find("").path, os.path.realpath(self.folder.name))

    def test_no_default(self):
        with mock.patch.dict(os.environ):
            os.environ.pop(_library.LIBRARY_VARIABLE, None)
            with self.assertRaisesRegex(FlashloomError, "no kernel library is loaded: call flashloom.load"):
                _library.find("")

    def test_a_folder_without_a_manifest(self):
        with self.assertRaisesRegex(FlashloomError, "manifest.json") as caught:
            flashloom.load("/nonexistent")
        self.assertEqual(caught.exception.status, "FA_INVALID_LIBRARY")

    def test_no_runtime(self):
        with mock.patch.dict(os.environ, {_capi.RUNTIME_VARIABLE: "/nonexistent.so"}):
            with self.assertRaisesRegex(FlashloomError, "runtime could not be loaded: .*FLASHLOOM_RUNTIME"):
                flashloom.load(self.folder.name)


    def test_another_library_than_the_runtime(self):
        with self.assertRaisesRegex(FlashloomError, "libc.so.6 is not a Flashloom runtime .*: it has no fa_version"):
            _capi.Api("libc.so.6")


class Package(unittest.TestCase):
    def test_version_is_the_project_s(self):
        header = Path(__file__).resolve().parents[2] / "include" / "flashloom" / "fa_runtime.h"
        version = re.findall(r"^#define FA_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)$", header.read_text(), re.MULTILINE)
        self.assertEqual(flashloom.__version__, ".".join(version))
        major, minor, patch = map(int, version)
        api = _capi.open_runtime(_capi.runtime_path())
        self.assertEqual(api.fa_version(), 10000 * major + 100 * minor + patch)
        self.assertEqual(_capi.RUNTIME_SONAME, f"libfa_runtime.so.{major}")

    def test_loading_needs_no_torch(self):
        code = "import sys; sys.modules['torch'] = None; import flashloom; flashloom.load; print('fine')"
        root = str(Path(flashloom.__file__).parents[1])
        done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True)
        self.assertEqual(done.stdout, "fine\n", done.stderr)

    def test_structures_are_as_large_as_the_header_s(self):
        # On a 64-bit machine: see the fields in fa_runtime.h.
        self.assertEqual(_capi.ctypes.sizeof(_capi.Tensor), 80)
        self.assertEqual(_capi.ctypes.sizeof(_capi.Extra), 112)
        self.assertEqual(_capi.ctypes.sizeof(_capi.ForwardParams), 472)


if __name__ == "__main__":
    unittest.main()
