"""The launch layer without PyTorch: what the C API is given, and numbers by the fake driver's kernels."""

import math
import threading
import unittest

import support
from support import Folder, HostTensor, decode_kernel, kernel

from flashloom import InvalidArgumentError, NoKernelError, _launch
from flashloom._capi import DTYPE_NAMES, EXTRA_SCALAR, EXTRA_TENSOR
from flashloom._launch import prepare
from flashloom._library import find

ADDRESS = 0x7000


class Recorder:
    """In the place of the runtime's API: keeps what a forward call was given."""

    def __init__(self, workspace=0):
        self.workspace, self.launches, self.asked = workspace, [], 0

    def fa_forward_workspace(self, handle, reference, size):
        self.asked += 1
        size._obj.value = self.workspace
        return 0

    def launch(self, handle, reference, stream):
        params = reference._obj
        views = {name: view_of(getattr(params, name)) for name in ("q", "k", "v", "o", "lse")}
        extras = [extra_of(params.extras[i]) for i in range(params.num_extras)]
        self.launches.append((views, params.scale, params.variant, extras, params.workspace, stream.value))
        self.flags = params.flags
        return 0

    def check(self, status, listing=""):
        assert status == 0


class RecordingLibrary:
    def __init__(self, workspace=0):
        self.api, self.handle, self.local = Recorder(workspace), 1, threading.local()


def view_of(tensor):
    rank = tensor.rank
    return tensor.data, DTYPE_NAMES[tensor.dtype], list(tensor.sizes)[:rank], list(tensor.strides)[:rank]


def extra_of(extra):
    if extra.kind == EXTRA_TENSOR:
        return extra.name, view_of(extra.tensor)
    assert extra.kind == EXTRA_SCALAR
    return extra.name, (DTYPE_NAMES[extra.dtype], extra.i32 if DTYPE_NAMES[extra.dtype] == "i32" else extra.f32)


def tensor_at(address, shape, strides=None, dtype="torch.bfloat16"):
    return HostTensor(shape, strides, dtype, memory=b"", address=address)


class Descriptors(unittest.TestCase):
    """What fa_forward_params holds."""

    @classmethod
    def setUpClass(cls):
        support.use_fake_driver()

    def launch(self, library, q, k, v, scale=0.5, variant="causal", extras=(), stream=0x99):
        prepared = prepare(library, 0, q, k, v, scale, variant, extras)
        addresses = [x.data_ptr() for _, x in extras if not isinstance(x, (int, float))]
        prepared.launch(q.data_ptr(), k.data_ptr(), v.data_ptr(), 0x4000, 0x5000, 0x6000, stream, addresses)
        return prepared, library.api.launches[-1]

    def test_sizes_strides_addresses_scale_variant_and_stream(self):
        q = tensor_at(0x1000, (2, 6, 5, 16), (480, 16, 96, 1))
        k = tensor_at(0x2000, (2, 3, 7, 16))
        v = tensor_at(0x3000, (2, 3, 7, 8), (0, 0, 8, 1))
        _, (views, scale, variant, extras, workspace, stream) = self.launch(RecordingLibrary(), q, k, v)
        self.assertEqual(views["q"], (0x1000, "bf16", [2, 6, 5, 16], [480, 16, 96, 1]))
        self.assertEqual(views["k"], (0x2000, "bf16", [2, 3, 7, 16], [336, 112, 16, 1]))
        self.assertEqual(views["v"], (0x3000, "bf16", [2, 3, 7, 8], [0, 0, 8, 1]))
        # The output's rows are ordered as q's are: [batch, seq, heads, dim].
        self.assertEqual(views["o"], (0x4000, "bf16", [2, 6, 5, 8], [240, 8, 48, 1]))
        self.assertEqual(views["lse"], (0x5000, "f32", [2, 6, 5], [30, 5, 1]))
        self.assertEqual((scale, variant, extras, stream), (0.5, b"causal", [], 0x99))

    def test_output_of_heads_first(self):
        q = tensor_at(ADDRESS, (2, 6, 5, 16), dtype="torch.float16")
        prepared, (views, *_) = self.launch(RecordingLibrary(), q, q, q)
        self.assertEqual(views["o"][1:], ("f16", [2, 6, 5, 16], [480, 80, 16, 1]))
        self.assertEqual((prepared.o_shape, prepared.o_strides), ((2, 6, 5, 16), (480, 80, 16, 1)))
        self.assertEqual((prepared.lse_shape, prepared.lse_strides), ((2, 6, 5), (30, 5, 1)))

    def test_workspace(self):
        q = tensor_at(ADDRESS, (1, 1, 1, 8))
        prepared, (_, _, _, _, workspace, _) = self.launch(RecordingLibrary(workspace=512), q, q, q)
        self.assertEqual((prepared.workspace_bytes, workspace), (512, 0x6000))

    def test_lists_that_the_workspace_has(self):
        q, library = tensor_at(ADDRESS, (1, 1, 1, 8)), RecordingLibrary(workspace=512)
        prepared, _ = self.launch(library, q, q, q)
        self.assertEqual(library.api.flags, 0)
        for reuse_lists in (True, False):
            prepared.launch(*[ADDRESS] * 5, 0x6000, 0, (), reuse_lists)
            self.assertEqual(library.api.flags, int(reuse_lists))

    def test_extras_by_name(self):
        q = tensor_at(ADDRESS, (1, 2, 4, 8))
        bias = tensor_at(0x8000, (2, 4, 4), (0, 4, 1), "torch.float32")
        extras = (("bias", bias), ("first", 3), ("cap", 2.5))
        _, (_, _, variant, found, _, _) = self.launch(RecordingLibrary(), q, q, q, variant="mine", extras=extras)
        view = (0x8000, "f32", [2, 4, 4], [0, 4, 1])
        self.assertEqual(variant, b"mine")
        self.assertEqual(found, [(b"bias", view), (b"first", ("i32", 3)), (b"cap", ("f32", 2.5))])

    def test_a_second_call_writes_only_the_addresses(self):
        library = RecordingLibrary()
        bias = tensor_at(0x8000, (4,), dtype="torch.float32")
        first, _ = self.launch(library, *[tensor_at(0x1000, (1, 2, 4, 8))] * 3, extras=(("bias", bias),))
        moved = tensor_at(0x9000, (4,), dtype="torch.float32")
        second, (views, _, _, extras, _, _) = self.launch(
            library, *[tensor_at(0xA000, (1, 2, 4, 8))] * 3, extras=(("bias", moved),)
        )
        self.assertIs(first, second)
        self.assertEqual(library.api.asked, 1)
        self.assertEqual((views["q"][0], views["v"][0], extras[0][1][0]), (0xA000, 0xA000, 0x9000))

    def test_whatever_a_descriptor_holds_tells_problems_apart(self):
        library = RecordingLibrary()
        base = dict(q=tensor_at(ADDRESS, (1, 2, 4, 8)), scale=1.0, variant="full", extras=())
        changes = [
            dict(q=tensor_at(ADDRESS, (1, 2, 5, 8))),
            dict(q=tensor_at(ADDRESS, (1, 2, 4, 8), (64, 8, 16, 1))),
            dict(q=tensor_at(ADDRESS, (1, 2, 4, 8), dtype="torch.float16")),
            dict(scale=2.0),
            dict(variant="causal"),
            dict(extras=(("n", 1),)),
            dict(extras=(("n", 1.0),)),
            dict(extras=(("n", tensor_at(ADDRESS, (1,), dtype="torch.int32")),)),
        ]
        prepared = set()
        for change in ({}, *changes):
            case = {**base, **change}
            prepared.add(self.launch(library, case["q"], case["q"], case["q"], *list(case.values())[1:])[0])
        self.assertEqual(len(prepared), 1 + len(changes))

    def test_each_thread_has_its_own(self):
        library, found = RecordingLibrary(), []
        q = tensor_at(ADDRESS, (1, 2, 4, 8))
        run = lambda: found.append(prepare(library, 0, q, q, q, 1.0, "full"))
        threads = [threading.Thread(target=run) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertIsNot(found[0], found[1])

    def test_forgets_when_there_are_too_many(self):
        library, limit = RecordingLibrary(), _launch.MAX_PREPARED
        for seq in range(1, limit + 2):
            q = tensor_at(ADDRESS, (1, 1, seq, 8))
            prepare(library, 0, q, q, q, 1.0, "full")
        self.assertEqual(len(library.local.prepared), 1)

    def test_refusals_of_its_own(self):
        good = tensor_at(ADDRESS, (1, 2, 4, 8))
        for tensors, extras, text in [
            ([tensor_at(ADDRESS, (2, 4, 8)), good, good], (), "q: rank must be 4 (found 3)"),
            ([good, good, tensor_at(ADDRESS, (2, 4, 8))], (), "v: rank must be 4 (found 3)"),
            ([good, tensor_at(ADDRESS, (1, 1, 2, 4, 8)), good], (), "k: rank must be at most 4 (found 5)"),
            ([good, good, tensor_at(ADDRESS, (1, 8), dtype="torch.int8")], (), "v: dtype must be one of bfloat16"),
            ([good] * 3, (("n", 1 << 31),), "n: must fit into 32 bits (found 2147483648)"),
        ]:
            with self.subTest(text), self.assertRaises(InvalidArgumentError) as caught:
                prepare(RecordingLibrary(), 0, *tensors, 1.0, "full", extras)
            self.assertIn(text, str(caught.exception))


class Runtime(unittest.TestCase):
    """Through libfa_runtime.so and the fake driver."""

    @classmethod
    def setUpClass(cls):
        support.use_fake_driver()
        cls.folder = Folder(kernel("full"), kernel("causal", variant="causal"), decode_kernel("idle", variant="plan"))
        cls.library = find(cls.folder.name)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def forward(self, q, k, v, scale, variant):
        prepared = prepare(self.library, 0, q, k, v, scale, variant)
        o = HostTensor(prepared.o_shape, prepared.o_strides)
        lse = HostTensor(prepared.lse_shape, prepared.lse_strides, "torch.float32")
        prepared.launch(q.data_ptr(), k.data_ptr(), v.data_ptr(), o.data_ptr(), lse.data_ptr(), 0, 0)
        return o, lse

    def check(self, q, k, v, causal=False, scale=0.7):
        o, lse = self.forward(q, k, v, scale, "causal" if causal else "full")
        shift = k.shape[2] - q.shape[2]
        wanted_o, wanted_lse = support.reference(q, k, v, scale, lambda i, j: not causal or j <= i + shift)
        for index, value in wanted_o.items():
            # bf16 has 8 bits.
            self.assertAlmostEqual(o[index], value, delta=0.01, msg=f"o{index}")
        for index, value in wanted_lse.items():
            if math.isinf(value):
                self.assertEqual(lse[index], value)
            else:
                self.assertAlmostEqual(lse[index], value, delta=1e-4, msg=f"lse{index}")

    def test_grouped_heads(self):
        q, k, v = (HostTensor((2, heads, 3, 8)).fill(seed) for seed, heads in enumerate((4, 2, 2)))
        self.check(q, k, v)

    def test_causal_is_aligned_to_the_bottom_right(self):
        for rows, keys in ((2, 5), (5, 2), (4, 4)):
            with self.subTest(rows=rows, keys=keys):
                q = HostTensor((1, 2, rows, 8)).fill(1)
                k, v = (HostTensor((1, 2, keys, 8)).fill(seed) for seed in (2, 3))
                self.check(q, k, v, causal=True)

    def test_rows_before_heads(self):
        q, k, v = (HostTensor((1, 2, 3, 8), (48, 8, 16, 1)).fill(seed) for seed in range(3))
        self.check(q, k, v)

    def test_expanded(self):
        q = HostTensor((2, 2, 3, 8)).fill(1)
        k, v = (HostTensor((2, 2, 4, 8), (0, 0, 8, 1)).fill(seed) for seed in (2, 3))
        self.check(q, k, v)

    def test_refused_layouts_say_what_helps(self):
        good = HostTensor((1, 1, 2, 8))
        transposed = HostTensor((1, 1, 2, 8), (32, 32, 16, 2))
        shifted = HostTensor((1, 1, 2, 8), memory=good.memory, address=good.address + 2)
        for tensors, text in [
            ((transposed, good, good), "q: stride of dimension 3 (head_dim) must be 1 (found 2); q.contiguous()"),
            ((good, HostTensor((1, 1, 2, 8), (24, 24, 12, 1)), good), "k: stride of dimension 2 (seq_kv) must be a"),
            ((good, good, shifted), "v.clone() gives an aligned copy"),
        ]:
            with self.subTest(text), self.assertRaises(InvalidArgumentError) as caught:
                self.forward(*tensors, 1.0, "full")
            self.assertIn(text, str(caught.exception))

    def test_no_kernel_lists_what_there_is(self):
        wide = HostTensor((1, 1, 2, 16))
        with self.assertRaises(NoKernelError) as caught:
            self.forward(wide, wide, wide, 1.0, "full")
        text = str(caught.exception)
        self.assertIn("has no kernel for fwd bf16, head_dim 16, head_dim_v 16, variant full", text)
        self.assertIn("  bf16, head_dim 8, variant causal: sm_80", text)
        self.assertEqual(caught.exception.status, "FA_NO_KERNEL")

    def test_a_kernel_of_two_launches_gets_its_workspace(self):
        q = HostTensor((2, 3, 4, 8))
        prepared = prepare(self.library, 0, q, q, q, 1.0, "plan")
        self.assertEqual(prepared.workspace_bytes, 2 * 3 * 4 * 8 * 4)
        with self.assertRaises(InvalidArgumentError) as caught:
            prepared.launch(*[q.data_ptr()] * 5, 0, 0)
        self.assertIn("workspace", str(caught.exception))
        prepared.launch(*[q.data_ptr()] * 6, 0)

    def test_without_rows_nothing_is_launched(self):
        q, k = HostTensor((1, 1, 0, 8)), HostTensor((1, 1, 2, 8))
        o, _ = self.forward(q, k, k, 1.0, "full")
        self.assertEqual(o.shape, (1, 1, 0, 8))


if __name__ == "__main__":
    unittest.main()
