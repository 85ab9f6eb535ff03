"""Names of variants. Without PyTorch."""

import unittest

import support  # noqa: F401

from flashloom import InvalidArgumentError
from flashloom._variants import variant_name


class Names(unittest.TestCase):
    def test_names(self):
        for arguments, name in [
            (dict(), "full"),
            (dict(window=(-1, -1)), "full"),
            (dict(softcap=0.0), "full"),
            (dict(causal=True), "causal"),
            (dict(window=(-1, 0)), "causal"),
            (dict(causal=True, window=(-1, 8)), "causal"),
            (dict(window=(1023, 0)), "window1024"),
            (dict(causal=True, window=(1023, 1023)), "window1024"),
            (dict(window=(0, 0)), "window1"),
            (dict(window=(64, 32)), "window-64-32"),
            (dict(window=(-1, 32)), "window-open-32"),
            (dict(window=(32, -1)), "window-32-open"),
            (dict(softcap=30), "softcap"),
            (dict(softcap=50.0), "softcap50"),
            (dict(causal=True, softcap=0.5), "causal-softcap0.5"),
            (dict(window=(15, 0), softcap=30.0), "window16-softcap"),
            (dict(variant="document"), "document"),
        ]:
            with self.subTest(arguments):
                self.assertEqual(variant_name(**arguments), name)

    def test_refusals(self):
        for arguments, text in [
            (dict(window=(-2, 0)), r"window: .* \(found \(-2, 0\)\)"),
            (dict(softcap=-1.0), r"softcap: must be a positive, finite number \(found -1.0\)"),
            (dict(softcap="x"), r"softcap: must be a positive, finite number \(found 'x'\)"),
            (dict(window=511), r"window: must be \(left, right\) or None \(found 511\)"),
            (dict(window=(1, 2, 3)), r"window: must be \(left, right\)"),
            (dict(softcap=float("inf")), "softcap"),
            (dict(variant="mine", causal=True), "'mine' cannot be joined by causal"),
        ]:
            with self.subTest(arguments), self.assertRaisesRegex(InvalidArgumentError, text):
                variant_name(**arguments)


if __name__ == "__main__":
    unittest.main()
