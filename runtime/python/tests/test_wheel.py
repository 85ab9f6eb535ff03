"""The wheel: built by pip with a runtime and kernels, installed into a folder, and used without variables. Where PyTorch is
installed, down to numbers by the fake driver."""

import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import unittest
import zipfile
from pathlib import Path

from support import Folder, kernel

PROJECT = Path(__file__).resolve().parents[1]
VARIABLES = ("FLASHLOOM_RUNTIME", "FLASHLOOM_LIBRARY")

# Attention on the CPU by what the wheel brought, against PyTorch. The argument is the driver.
ATTENTION = """
import ctypes, sys
ctypes.CDLL(sys.argv[1])
import torch, flashloom
from flashloom import _attention, _op
_attention._DEVICE_TYPES = ("cpu",)
_op.current_stream = lambda device: 0
_op.op.register_kernel("cpu")(_op.launch)
q, k, v = (torch.randn(2, heads, 5, 8, generator=torch.Generator().manual_seed(heads)).bfloat16() for heads in (4, 2, 2))
o = flashloom.attention(q, k, v, causal=True)
k, v = (x.repeat_interleave(2, 1) for x in (k, v))
wanted = torch.nn.functional.scaled_dot_product_attention(q.float(), k.float(), v.float(), is_causal=True)
print("right" if torch.allclose(o.float(), wanted, atol=2e-2) else (o, wanted))
"""


def run(*command, path=None):
    """A finished process without the variables that name a runtime or kernels."""
    env = {name: value for name, value in os.environ.items() if name not in VARIABLES}
    env["PYTHONPATH"] = str(path or "")
    return subprocess.run([sys.executable, *command], env=env, cwd="/", capture_output=True, text=True)


def pip(*command):
    return run("-m", "pip", "--disable-pip-version-check", *command, "--no-index", "--no-deps", "--no-cache-dir")


class Wheel(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="flashloom-test-")
        cls.addClassCleanup(cls.folder.cleanup)
        cls.kernels = Folder(kernel("full"), kernel("causal", variant="causal"))
        cls.addClassCleanup(cls.kernels.cleanup)
        Path(cls.kernels.name, "left-over.cubin").write_text("of an earlier call")
        cls.wheels = Path(cls.folder.name, "wheels")
        cls.built = cls.build(
            cls.wheels, f"runtime={os.path.realpath(os.environ['FLASHLOOM_RUNTIME'])}", f"kernels={cls.kernels.name}"
        )

    @staticmethod
    def build(folder, *settings):
        options = [word for setting in settings for word in ("--config-settings", setting)]
        return pip("wheel", str(PROJECT), *options, "-w", str(folder))

    def wheel(self):
        self.assertEqual(self.built.returncode, 0, self.built.stderr)
        (wheel,) = self.wheels.glob("*.whl")
        return wheel

    def install(self, wheel):
        site = Path(self.folder.name, wheel.stem)
        if not site.exists():
            done = pip("install", str(wheel), "--target", str(site))
            self.assertEqual(done.returncode, 0, done.stderr)
        return site

    def test_holds_the_runtime_and_the_kernels_of_the_manifest(self):
        self.assertRegex(self.wheel().name, r"^flashloom-[0-9.]+-py3-none-linux_\w+\.whl$")
        names = zipfile.ZipFile(self.wheel()).namelist()
        self.assertEqual(
            [name for name in names if name.startswith(("flashloom/lib/", "flashloom/kernels/"))],
            ["flashloom/lib/libfa_runtime.so"]
            + [f"flashloom/kernels/{file}" for file in ("manifest.json", "full.cubin", "causal.cubin")],
        )

    def test_works_without_variables(self):
        site = self.install(self.wheel())
        done = run("-m", "flashloom", path=site)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(f"{site}/flashloom/lib/libfa_runtime.so", done.stdout)
        self.assertIn(f"{site}/flashloom/kernels has kernels for:", done.stdout)
        self.assertIn("variant causal: sm_80", done.stdout)

    @unittest.skipUnless(importlib.util.find_spec("torch"), "needs PyTorch")
    def test_computes_attention(self):
        site = self.install(self.wheel())
        done = run("-c", ATTENTION, os.environ["FLASHLOOM_TEST_DRIVER"], path=site)
        self.assertEqual(done.stdout, "right\n", done.stderr)

    def test_without_settings_it_is_for_any_machine(self):
        folder = Path(self.folder.name, "pure")
        self.assertEqual(self.build(folder).returncode, 0)
        (wheel,) = folder.glob("*.whl")
        self.assertRegex(wheel.name, r"-py3-none-any\.whl$")
        done = run("-m", "flashloom", path=self.install(wheel))
        self.assertEqual(done.returncode, 1)
        self.assertIn("flashloom: the Flashloom runtime could not be loaded", done.stderr)

    def test_refuses_what_cannot_travel(self):
        damaged = Folder(kernel("full", crc32=1))
        self.addCleanup(damaged.cleanup)
        for setting, text in [
            ("kernels=out", "kernels: must be one absolute path (found 'out')"),
            ("kernels=/nonexistent", "/nonexistent is not a library as fa-gen writes it"),
            (f"kernels={damaged.name}", "full.cubin is not the file that was compiled"),
            (f"runtime={__file__}", "test_wheel.py is not a shared library"),
            ("kernel=/out", "config settings are runtime and kernels (found kernel)"),
        ]:
            with self.subTest(setting):
                done = self.build(Path(self.folder.name, "refused"), setting)
                self.assertNotEqual(done.returncode, 0)
                self.assertIn(text, done.stderr)

    def test_leaves_the_sources_alone(self):
        self.wheel()
        for name in ("build", "flashloom.egg-info", "flashloom/lib", "flashloom/kernels"):
            self.assertFalse((PROJECT / name).exists(), name)


class SourceDistribution(unittest.TestCase):
    def test_makes_a_wheel(self):
        with tempfile.TemporaryDirectory() as folder:
            code = "import json, sys, flashloom_backend as b; print(json.dumps(b.build_sdist(sys.argv[1])))"
            made = run("-c", code, folder, path=PROJECT / "backend")
            self.assertEqual(made.returncode, 0, made.stderr)
            archive = Path(folder, json.loads(made.stdout))
            done = pip("wheel", str(archive), "-w", folder)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(len(list(Path(folder).glob("flashloom-*-any.whl"))), 1)


if __name__ == "__main__":
    unittest.main()
