"""The package on PyTorch, without a GPU: the operator also gets a kernel for the CPU, whose memory the fake driver's
kernels compute on."""

import inspect
import sys
import threading
import types
import unittest
from unittest import mock

import support
import torch
import torch.nn.functional as F
from support import Folder, decode_kernel, extras_kernel, kernel, lists_kernel
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.proxy_tensor import make_fx

import flashloom
from flashloom import InvalidArgumentError, NoKernelError, UnsupportedError, _attention, _eager, _library, _op
from flashloom._launch import Prepared

STREAMS = []


def setUpModule():
    support.use_fake_driver()
    _op.op.register_kernel("cpu")(_op.launch)


def draw(*shape, seed=0, dtype=torch.bfloat16):
    generator = torch.Generator().manual_seed(seed + sum(shape))
    return torch.randn(*shape, generator=generator).to(dtype)


def draws(q_shape, kv_shape):
    return draw(*q_shape, seed=1), draw(*kv_shape, seed=2), draw(*kv_shape, seed=3)


def wanted(q, k, v, mask=None, scale=None):
    """(o, lse) of [batch, heads, seq, dim] tensors in float32; mask is True where a query sees a key."""
    q, k, v = (x.float() for x in (q, k, v))
    k, v = (x.repeat_interleave(q.shape[1] // k.shape[1], 1) for x in (k, v))
    scores = q @ k.mT * (q.shape[-1] ** -0.5 if scale is None else scale)
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    return scores.softmax(-1).nan_to_num(0) @ v, scores.logsumexp(-1)


def bottom_right(rows, keys):
    return torch.ones(rows, keys, dtype=torch.bool).tril(keys - rows)


class OnTheCpu(unittest.TestCase):
    # Whether calls go past the dispatcher, as plain ones do on a GPU.
    direct = False

    def setUp(self):
        folder = Folder(
            kernel("full"),
            kernel("causal", variant="causal"),
            decode_kernel("idle-plan", variant="plan"),
            extras_kernel("idle-extras", variant="mine"),
            lists_kernel("idle-lists", variant="document"),
        )
        self.addCleanup(folder.cleanup)
        STREAMS.clear()
        stream = lambda device: STREAMS.append(device) or 0
        for where, name, value in [
            (_library, "_default", None),
            (_attention, "_DEVICE_TYPES", ("cuda", "meta", "cpu")),
            (_op, "current_stream", stream),
            (_eager, "ON_CPU", self.direct),
        ]:
            patch = mock.patch.object(where, name, value)
            patch.start()
            self.addCleanup(patch.stop)
        self.library = flashloom.load(folder.name)

    def close(self, found, expected, **tolerance):
        torch.testing.assert_close(found.float(), expected.float(), **{"atol": 0.02, "rtol": 0.02, **tolerance})


class Attention(OnTheCpu):
    def test_grouped_heads_and_lse(self):
        q, k, v = draws((2, 4, 3, 8), (2, 2, 5, 8))
        o, lse = flashloom.attention(q, k, v, return_lse=True)
        expected, expected_lse = wanted(q, k, v)
        self.assertEqual((o.dtype, lse.dtype), (torch.bfloat16, torch.float32))
        self.close(o, expected)
        self.close(lse, expected_lse, atol=1e-4)
        self.assertEqual(STREAMS, [-1])

    def test_causal_is_aligned_to_the_bottom_right(self):
        for rows, keys in ((2, 5), (5, 2)):
            q, k, v = draws((1, 2, rows, 8), (1, 2, keys, 8))
            o, lse = flashloom.attention(q, k, v, causal=True, scale=0.5, return_lse=True)
            expected, expected_lse = wanted(q, k, v, bottom_right(rows, keys), 0.5)
            self.close(o, expected)
            self.close(lse, expected_lse, atol=1e-4)

    def test_rows_before_heads(self):
        q, k, v = draws((2, 3, 4, 8), (2, 5, 2, 8))
        o = flashloom.attention(q, k, v, layout="bshd")
        self.close(o, wanted(*(x.transpose(1, 2) for x in (q, k, v)))[0].transpose(1, 2))
        self.assertTrue(o.is_contiguous())

    def test_strides_of_slices_and_expanded_heads(self):
        packed = draw(2, 3, 3, 2, 8)
        q, k, v = (x.transpose(1, 2) for x in packed.unbind(2))
        self.close(flashloom.attention(q, k, v), wanted(q, k, v)[0])
        k, v = (draw(1, 1, 5, 8, seed=seed).expand(2, 2, 5, 8) for seed in (2, 3))
        self.close(flashloom.attention(q, k, v), wanted(q, k, v)[0])

    def test_a_variant_by_name_with_a_workspace(self):
        q = draw(1, 2, 3, 8)
        self.assertEqual(flashloom.attention(q, q, q, variant="plan", library=self.library).shape, q.shape)

    def test_extras_by_name(self):
        q, ids = draw(2, 2, 3, 8), torch.zeros(2, dtype=torch.int32)
        run = lambda **extras: flashloom.attention(q, q, q, variant="mine", extras=extras)
        good = dict(cap=2.5, ids=ids, first=3)
        self.assertEqual(run(**good).shape, q.shape)
        for change, text in [
            (dict(ids=ids.float()), "ids: dtype must be i32"),
            (dict(ids=ids[:1]), r"ids: size of dimension 0 must be 2 \(batch\)"),
            (dict(cap=2), "cap: dtype must be f32"),
            (dict(first=3.0), "first: dtype must be i32"),
        ]:
            with self.subTest(text), self.assertRaisesRegex(InvalidArgumentError, text):
                run(**{**good, **change})

    def test_no_kernel_for_it(self):
        q = draw(1, 2, 3, 8)
        for arguments, name in [
            (dict(window=(7, 0)), "window8"), (dict(causal=True, softcap=50), "causal-softcap50"),
        ]:  # fmt: skip
            with self.assertRaisesRegex(NoKernelError, rf"variant {name}\n.*\n  bf16, head_dim 8, variant full: sm_80"):
                flashloom.attention(q, q, q, **arguments)

    def test_refusals(self):
        q, square = draw(1, 2, 3, 8), draw(1, 2, 8, 8)
        for call, text in [
            (lambda: flashloom.attention(square.mT, square, square), r"q: stride of dimension .*; q.contiguous\(\)"),
            (lambda: flashloom.attention(q, q.half(), q), "k: dtype must be bf16"),
            (lambda: flashloom.attention(q, q, q, layout="sbhd"), "layout"),
            (lambda: flashloom.attention(q[0], q[0], q[0], layout="bshd"), r"4 dimensions \(found 3\)"),
            (lambda: flashloom.attention(q, q, q, scale=-1.0), "scale: must be finite and positive"),
            (lambda: flashloom.attention(q, q, q, extras={"ids": draw(3)}), "name must be an extra argument"),
            (lambda: flashloom.attention(q, q, q, extras={"ids": "3"}), r"extras: ids must be .* \(found str\)"),
            (lambda: flashloom.attention(q, object(), q), r"k: must be a tensor, .* \(found object\)"),
        ]:
            with self.subTest(text), self.assertRaisesRegex(InvalidArgumentError, text):
                call()

    def test_tensors_on_the_cpu_are_refused(self):
        q = draw(1, 2, 3, 8)
        on_gpus = mock.patch.object(_attention, "_DEVICE_TYPES", ("cuda", "meta"))
        with on_gpus, mock.patch.object(_eager, "ON_CPU", False):
            with self.assertRaisesRegex(InvalidArgumentError, r"must be on a CUDA device \(found cpu\)"):
                flashloom.attention(q, q, q)

    def test_gradients_are_refused(self):
        q = draw(1, 2, 3, 8)
        trained = q.clone().requires_grad_()
        for arguments in ((trained, q, q), (q, trained, q), (q, q, trained)):
            with self.assertRaisesRegex(UnsupportedError, "no backward pass yet"):
                flashloom.attention(*arguments)
            with self.assertRaisesRegex(UnsupportedError, "no backward pass yet"):
                torch.ops.flashloom.attention(*arguments, 1.0, "full", "", [], [], [])
            with torch.no_grad():
                self.assertFalse(flashloom.attention(*arguments).requires_grad)


class Lists(OnTheCpu):
    """Which calls find the lists of an earlier one."""

    direct = True

    def setUp(self):
        super().setUp()
        self.found, launch = [], Prepared.launch
        note = lambda *arguments: self.found.append(arguments[-1]) or launch(*arguments)
        patch = mock.patch.object(Prepared, "launch", note)
        patch.start()
        self.addCleanup(patch.stop)
        self.ids = torch.zeros(2, dtype=torch.int32)

    def run_with(self, lists, shape=(2, 2, 3, 8), ids=None, variant="document"):
        """Whether a call finds the lists."""
        q = draw(*shape)
        extras = {"ids": self.ids if ids is None else ids} if variant == "document" else None
        o = flashloom.attention(q, q, q, variant=variant, extras=extras, lists=lists)
        self.assertEqual(o.shape, shape)
        return self.found[-1]

    def test_later_calls_find_them(self):
        lists = flashloom.BlockLists()
        self.assertEqual([self.run_with(lists) for _ in range(3)], [False, True, True])
        self.assertFalse(self.run_with(None))
        self.assertTrue(self.run_with(lists, ids=self.ids[:]), "the same memory")
        self.assertFalse(self.run_with(flashloom.BlockLists()))

    def test_they_are_made_anew_where_something_changed(self):
        for name, change in [
            ("the numbers", lambda lists: self.ids.add_(1)),
            ("the tensor", lambda lists: setattr(self, "ids", self.ids.clone())),
            ("nothing that PyTorch knows of", lambda lists: lists.clear()),
            ("the stream", lambda lists: setattr(_op, "current_stream", lambda device: 7)),
        ]:
            with self.subTest(name):
                lists = flashloom.BlockLists()
                self.run_with(lists)
                self.assertTrue(self.run_with(lists))
                change(lists)
                self.assertFalse(self.run_with(lists))
                self.assertTrue(self.run_with(lists))

    def test_another_problem_replaces_them(self):
        lists = flashloom.BlockLists()
        self.run_with(lists)
        self.assertFalse(self.run_with(lists, shape=(2, 2, 4, 8)))
        self.assertFalse(self.run_with(lists))

    def test_a_variant_without_lists(self):
        lists = flashloom.BlockLists()
        self.assertFalse(self.run_with(lists, variant="full"))
        self.assertFalse(self.run_with(lists, variant="full"))

    def test_a_launch_that_fails_leaves_none(self):
        lists = flashloom.BlockLists()
        with self.assertRaisesRegex(InvalidArgumentError, "ids"):
            self.run_with(lists, ids=self.ids.float())
        self.assertFalse(self.run_with(lists))

    def test_inference_tensors(self):
        lists = flashloom.BlockLists()
        with torch.inference_mode():
            self.ids = torch.zeros(2, dtype=torch.int32)
            self.assertEqual([self.run_with(lists) for _ in range(2)], [False, True])

    def test_compiled_graphs_make_their_own(self):
        torch.compiler.reset()
        lists, q = flashloom.BlockLists(), draw(2, 2, 3, 8)
        run = lambda q, ids: flashloom.attention(q * 1, q, q, variant="document", extras={"ids": ids}, lists=lists)
        self.assertEqual(torch.compile(run, backend="aot_eager", fullgraph=True)(q, self.ids).shape, q.shape)
        self.assertFalse(self.found[-1])


class DirectAttention(Attention):
    direct = True

    def test_later_calls_are_of_their_own_tensors(self):
        for layout in ("bhsd", "bshd"):
            for seed in range(3):
                q, k, v = (draw(2, 3, 3, 8, seed=10 * seed + n) for n in range(3))
                o, lse = flashloom.attention(q, k, v, return_lse=True, layout=layout)
                heads_first = (q, k, v) if layout == "bhsd" else [x.transpose(1, 2) for x in (q, k, v)]
                expected, expected_lse = wanted(*heads_first)
                self.close(o, expected if layout == "bhsd" else expected.transpose(1, 2))
                self.close(lse, expected_lse, atol=1e-4)
                self.assertTrue(o.is_contiguous() and lse.is_contiguous())

    def test_results_are_tensors_of_their_own(self):
        q = draw(1, 2, 3, 8)
        results = [flashloom.attention(q, q, q, return_lse=True) for _ in range(3)]
        addresses = {tensor.data_ptr() for result in results for tensor in result}
        self.assertEqual(len(addresses), 6)

    def test_outputs_are_as_the_operator_makes_them(self):
        packed = draw(2, 3, 3, 2, 8)
        samples = [
            draws((2, 4, 3, 8), (2, 2, 5, 8)),
            [x.transpose(1, 2) for x in packed.unbind(2)],
            [draw(1, 1, 5, 8).expand(2, 2, 5, 8)] * 3,
            [draw(1, 2, 1, 8)] * 3,
        ]
        for tensors in samples:
            direct = flashloom.attention(*tensors, return_lse=True)
            with mock.patch.object(_eager, "ON_CPU", False):
                dispatched = flashloom.attention(*tensors, return_lse=True)
            for one, other in zip(direct, dispatched):
                self.assertEqual((one.shape, one.stride(), one.dtype), (other.shape, other.stride(), other.dtype))
                self.assertTrue(torch.equal(one, other))

    def test_arguments_are_told_apart(self):
        q, k, v = draws((1, 2, 3, 8), (1, 2, 5, 8))
        for _ in range(2):
            self.close(flashloom.attention(q, k, v), wanted(q, k, v)[0])
            self.close(flashloom.attention(q, k, v, causal=True), wanted(q, k, v, bottom_right(3, 5))[0])
            self.close(flashloom.attention(q, k, v, window=[-1, 0]), wanted(q, k, v, bottom_right(3, 5))[0])
            self.close(flashloom.attention(q, k, v, scale=0.5), wanted(q, k, v, scale=0.5)[0])

    @unittest.skipIf(_eager.TENSOR_READER is None, "this PyTorch's tensors cannot be read by C code")
    def test_the_same_problem_again_is_found_by_the_runtime(self):
        q, k, v = draws((2, 4, 3, 8), (2, 2, 5, 8))
        longer = draw(2, 4, 4, 8)
        flashloom.attention(q, k, v)
        with mock.patch.object(_eager.Call, "__init__", side_effect=AssertionError("made again")):
            for seed in range(3):
                others = [draw(*x.shape, seed=seed + n) for n, x in enumerate((q, k, v))]
                o, lse = flashloom.attention(*others, return_lse=True)
                self.close(o, wanted(*others)[0])
                self.close(lse, wanted(*others)[1], atol=1e-4)
            # Neither of another problem is taken for it.
            for tensors in (longer, k, v), (q.transpose(1, 2).contiguous().transpose(1, 2), k, v), (q, k[..., :4, :], v):
                with self.assertRaisesRegex(AssertionError, "made again"):
                    flashloom.attention(*tensors)
            with self.assertRaisesRegex(AssertionError, "made again"):
                flashloom.attention(q, k, v, causal=True)
        self.close(flashloom.attention(longer, k, v), wanted(longer, k, v)[0])
        self.close(flashloom.attention(q, k, v), wanted(q, k, v)[0])

    @unittest.skipIf(_eager.TENSOR_READER is None, "this PyTorch's tensors cannot be read by C code")
    def test_without_a_reader_of_tensors(self):
        q, k, v = draws((2, 4, 3, 8), (2, 2, 5, 8))
        with mock.patch.object(_eager, "TENSOR_READER", None):
            for _ in range(2):
                self.close(flashloom.attention(q, k, v), wanted(q, k, v)[0])

    def test_the_default_library_may_change(self):
        q = draw(1, 2, 3, 8)
        flashloom.attention(q, q, q)
        with Folder(kernel("causal", variant="causal")) as other:
            flashloom.load(other)
            with self.assertRaises(NoKernelError):
                flashloom.attention(q, q, q)
            self.close(flashloom.attention(q, q, q, library=self.library), wanted(q, q, q)[0])

    def test_threads_have_arguments_of_their_own(self):
        failures = []

        def run(seed):
            for _ in range(50):
                q, k, v = (draw(1, 2, 3, 8, seed=seed + n) for n in range(3))
                if not torch.allclose(flashloom.attention(q, k, v).float(), wanted(q, k, v)[0], atol=0.02, rtol=0.02):
                    failures.append(seed)

        threads = [threading.Thread(target=run, args=(10 * n,)) for n in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])

    def test_tensors_of_two_devices(self):
        q = draw(1, 2, 3, 8)
        with mock.patch.object(torch.Tensor, "get_device", lambda self: -1 if self is q else 0):
            with self.assertRaisesRegex(InvalidArgumentError, "must be on one device"):
                flashloom.attention(q, q.clone(), q)


    def test_another_device_is_made_current(self):
        q, current, prepared_on = draw(1, 2, 3, 8), [0], []

        class Guard:
            def __init__(self, device):
                self.device = device

            def __enter__(self):
                self.before, current[0] = current[0], self.device

            def __exit__(self, *ignored):
                current[0] = self.before

        prepare = lambda *arguments: prepared_on.append(current[0]) or launched_by(*arguments)
        launched_by, launched_on = _eager.prepare, []
        with (
            mock.patch.object(torch.Tensor, "get_device", lambda self: 1),
            mock.patch.object(torch.cuda, "device", Guard),
            mock.patch.object(_eager, "_current_device", lambda: current[0]),
            # It would find the tensors where they are.
            mock.patch.object(_eager, "TENSOR_READER", None),
            mock.patch.object(_eager, "prepare", prepare),
            mock.patch.object(_op, "current_stream", lambda device: launched_on.append((device, current[0])) or 0),
        ):
            for _ in range(2):
                self.close(flashloom.attention(q, q, q), wanted(q, q, q)[0])
        self.assertEqual((prepared_on, launched_on, current), ([1], [(1, 1), (1, 1)], [0]))


class Operator(OnTheCpu):
    def samples(self):
        q, k, v = draws((2, 4, 3, 8), (2, 2, 5, 8))
        yield q, k, v
        yield (x.transpose(1, 2).contiguous().transpose(1, 2) for x in (q, k, v))

    def test_opcheck(self):
        for tensors in self.samples():
            torch.library.opcheck(torch.ops.flashloom.attention.default, (*tensors, 0.5, "causal", "", [], [], []))

    def test_meta_tensors_have_the_outputs_layout(self):
        for tensors in self.samples():
            tensors = list(tensors)
            for real, meta in zip(
                flashloom.attention(*tensors, return_lse=True),
                flashloom.attention(*(x.to("meta") for x in tensors), return_lse=True),
            ):
                self.assertEqual((real.shape, real.stride(), real.dtype), (meta.shape, meta.stride(), meta.dtype))

    def test_tensors_of_a_gpu_are_traced_without_one(self):
        with FakeTensorMode():
            q = torch.empty(2, 3, 4, 8, device="cuda:0", dtype=torch.bfloat16)
            traced = make_fx(lambda q: flashloom.flash_attn_func(q, q, q, causal=True))(q)
            o = traced(q)
        self.assertIn("torch.ops.flashloom.attention.default(", traced.code)
        self.assertEqual((o.shape, o.stride(), str(o.device)), (q.shape, q.stride(), "cuda:0"))

    def test_compiles_into_one_graph(self):
        for dynamic in (False, True):
            torch.compiler.reset()

            @torch.compile(backend="aot_eager", fullgraph=True, dynamic=dynamic)
            def block(q, k, v):
                o, lse = flashloom.attention(q * 1, k, v, causal=True, return_lse=True, library=self.library)
                return F.relu(o + flashloom.scaled_dot_product_attention(q, k, v, enable_gqa=True)), lse

            for rows in (3, 4):
                q, k, v = draws((2, 4, rows, 8), (2, 2, 5, 8))
                causal, lse = wanted(q, k, v, bottom_right(rows, 5))
                o, found = block(q, k, v)
                self.close(o, F.relu(causal + wanted(q, k, v)[0]), atol=0.05)
                self.close(found, lse, atol=1e-4)

    def test_gradients_are_refused_while_tracing(self):
        torch.compiler.reset()
        q = draw(1, 2, 3, 8).requires_grad_()
        with self.assertRaisesRegex(Exception, "no backward pass yet"):
            torch.compile(lambda q: flashloom.attention(q * 2, q, q).sum(), backend="aot_eager")(q)

    def test_the_dispatcher_is_passed_by_only_where_nothing_listens(self):
        q = draw(1, 2, 3, 8)
        self.assertFalse(_eager.is_plain(q, q, q), "on the CPU")
        patch = mock.patch.object(_eager, "ON_CPU", True)
        patch.start()
        self.addCleanup(patch.stop)
        self.assertTrue(_eager.is_plain(q, q, q))
        self.assertFalse(_eager.is_plain(q, torch.nn.Parameter(q), q))
        trained = q.clone().requires_grad_()
        self.assertFalse(_eager.is_plain(q, q, trained))
        with torch.no_grad():
            self.assertTrue(_eager.is_plain(q, q, trained))
        with FakeTensorMode() as mode:
            self.assertFalse(_eager.is_plain(q, q, q))
        fake = mode.from_tensor(q)
        self.assertFalse(_eager.is_plain(q, q, fake))
        seen = []
        torch.vmap(lambda x: seen.append(_eager.is_plain(x, x, x)) or x)(q)
        self.assertEqual(seen, [False])

    def test_tensors_of_two_devices(self):
        q = draw(1, 2, 3, 8)
        with mock.patch.object(torch.Tensor, "get_device", lambda self: -1 if self is q else 0):
            with self.assertRaisesRegex(InvalidArgumentError, "must be on one device"):
                _op.launch(q, q.clone(), q, 1.0, "full", "", [], [], [])


class DropIns(OnTheCpu):
    def test_sdpa_agrees_with_torch(self):
        for q_shape, kv_shape, causal in [
            ((2, 2, 4, 8), (2, 2, 4, 8), True),
            ((2, 2, 3, 8), (2, 2, 5, 8), True),
            ((2, 2, 5, 8), (2, 2, 3, 8), False),
            ((2, 4, 8), (2, 4, 8), True),
        ]:
            q, k, v = draws(q_shape, kv_shape)
            found = flashloom.scaled_dot_product_attention(q, k, v, is_causal=causal, scale=0.3)
            expected = F.scaled_dot_product_attention(q.float(), k.float(), v.float(), is_causal=causal, scale=0.3)
            self.close(found, expected)

    def test_sdpa_refusals(self):
        q, k, v = draws((1, 4, 3, 8), (1, 2, 2, 8))
        call = flashloom.scaled_dot_product_attention
        for run, error, text in [
            (lambda: call(q, k, v), InvalidArgumentError, "key has 2 heads and query 4: pass enable_gqa=True"),
            (lambda: call(q, k, v, torch.ones(3, 2)), UnsupportedError, "attn_mask"),
            (lambda: call(q, k, v, dropout_p=0.1), UnsupportedError, r"dropout_p must be 0 \(found 0.1\)"),
            (lambda: call(q, k, v, is_causal=True, enable_gqa=True), UnsupportedError, r"more queries \(3\) than keys"),
            (lambda: call(q, k[0], v), InvalidArgumentError, r"4 or 3 dimensions \(found 4, 3, 4\)"),
        ]:
            with self.subTest(text), self.assertRaisesRegex(error, text):
                run()

    def test_flash_attn_func(self):
        q, k, v = draws((2, 3, 4, 8), (2, 5, 2, 8))
        heads_first = [x.transpose(1, 2) for x in (q, k, v)]
        for arguments in (dict(causal=True), dict(window_size=(-1, 0))):
            found = flashloom.flash_attn_func(q, k, v, softmax_scale=0.3, **arguments)
            expected, _ = wanted(*heads_first, bottom_right(3, 5), 0.3)
            self.close(found, expected.transpose(1, 2))

    def test_flash_attn_func_refusals(self):
        q = draw(1, 3, 2, 8)
        for arguments, error, text in [
            (dict(dropout_p=0.1), UnsupportedError, "dropout_p"),
            (dict(alibi_slopes=draw(2)), UnsupportedError, "alibi_slopes"),
            (dict(return_attn_probs=True), UnsupportedError, "return_lse=True"),
            (dict(window_size=(16, 0)), NoKernelError, "variant window17"),
        ]:
            with self.subTest(text), self.assertRaisesRegex(error, text):
                flashloom.flash_attn_func(q, q, q, **arguments)

    def test_parameters_are_those_of_the_originals(self):
        names = lambda function: list(inspect.signature(function).parameters)
        self.assertEqual(
            names(flashloom.scaled_dot_product_attention),
            ["query", "key", "value", "attn_mask", "dropout_p", "is_causal", "scale", "enable_gqa"],
        )
        self.assertEqual(
            names(flashloom.flash_attn_func)[3:],
            ["dropout_p", "softmax_scale", "causal", "window_size", "softcap", "alibi_slopes", "deterministic",
             "return_attn_probs"],
        )  # fmt: skip


class DirectDropIns(DropIns):
    direct = True


class OtherPackages(OnTheCpu):
    class Array:
        def __init__(self, tensor):
            self.tensor = tensor

        def __dlpack__(self, **arguments):
            return self.tensor.__dlpack__(**arguments)

        def __dlpack_device__(self):
            return self.tensor.__dlpack_device__()

    def test_arrays_come_back_as_their_own_kind(self):
        cupy = types.ModuleType("cupy")
        cupy.ndarray = type("ndarray", (self.Array,), {"__module__": "cupy"})
        cupy.from_dlpack = cupy.ndarray
        q, k, v = draws((1, 2, 3, 8), (1, 2, 5, 8))
        with mock.patch.dict(sys.modules, cupy=cupy):
            o, lse = flashloom.attention(*map(cupy.ndarray, (q, k, v)), return_lse=True)
        self.assertIsInstance(o, cupy.ndarray)
        self.assertIsInstance(lse, cupy.ndarray)
        self.close(o.tensor, wanted(q, k, v)[0])

    def test_arrays_of_an_unknown_package_give_tensors(self):
        q, k, v = draws((1, 2, 3, 8), (1, 2, 5, 8))
        self.close(flashloom.attention(*map(self.Array, (q, k, v))), wanted(q, k, v)[0])

    def test_neither_tensor_nor_array(self):
        with self.assertRaisesRegex(InvalidArgumentError, r"q: must be a tensor, or have __dlpack__ .*\(found list\)"):
            flashloom.attention([1.0], [1.0], [1.0])


if __name__ == "__main__":
    unittest.main()
