#!/usr/bin/env python3
"""The pairwise set: attention problems in which every pair of choices meets, checked on the CPU after every pass.

    pairwise.py check                        every pair is in some problem
    pairwise.py list                         the problems' names
    pairwise.py emit NAME                    a problem's IR
    pairwise.py run [NAME...] [--share 1/4]  fa-run --check after every pass of every list, of some problems or a share

A name is its choices, joined: bf16-causal-gqa3-d80-113x271-... A failing program is printed as a command that
`pairwise.py emit NAME | ...` repeats. Needs fa-run in PATH.
"""
import argparse
import collections
import itertools
import sys

from every_pass import fa1_prefixes, fa2_prefixes, make_front, run_programs, standard

# The choices. Where a problem is free, it takes the first of what costs time, and of all else what fewest problems have.
FACTORS = {
    "element": ["f32", "bf16", "f16"],
    "variant": ["none", "causal", "window", "softcap", "alibi", "document", "bias", "prefix"],
    "heads": ["gqa1", "gqa3", "gqa8"],
    "dims": ["d64", "d64x96", "d80", "d128", "d192x128", "d256"],
    "sizes": ["70x150", "1x20", "113x271", "128x1000", "1000x128"],
    "layout": ["single", "batched", "packed", "kvlens"],
    "rescale": ["always", "lazy", "firstmax"],
    "inputs": ["normal", "large4", "large12", "large40"],
    "blocks": ["chosen", "bc32"],
    "splits": ["whole", "split3"],
}
COSTLY = {"heads", "dims", "sizes"}
CHEAP_SIZES = ["70x150", "1x20"]
# Sizes that each problem runs as well: more queries than keys, no queries, no keys.
SMALL_SIZES = ["5x2", "0x16", "16x0"]
# Pairs that no problem may hold: f32 is held to 1e-5, which the rounding of such large scores alone exceeds; and
# first-max folds again from the start, which parts that were merged do not have.
EXCLUDED = {("f32", "large12"), ("f32", "large40"), ("firstmax", "split3")}
FLAGS = {"always": "always", "lazy": "lazy", "firstmax": "first-max", "normal": "normal", "large4": "large:4",
         "large12": "large:12", "large40": "large:40"}
# Up to so many multiplications what optimising saves is less than what it costs.
UNOPTIMIZED_WORK = 6e7

#===----------------------------------------------------------------------===#
# The set
#===----------------------------------------------------------------------===#


def pairs_of(problem):
    """The pairs of choices in a dict from factors to choices."""
    return set(itertools.combinations([problem[name] for name in FACTORS if name in problem], 2))


def all_pairs():
    lists = itertools.combinations(FACTORS.values(), 2)
    return [pair for one, other in lists for pair in itertools.product(one, other) if pair not in EXCLUDED]


FACTOR_OF = {choice: name for name, choices in FACTORS.items() for choice in choices}


def best_choice(problem, name, missing, uses):
    """The choice for `name` that meets most of the missing pairs; of these the first, or the least used."""
    def rank(choice):
        pairs = pairs_of({**problem, name: choice})
        gain = -1 if pairs & EXCLUDED else len(pairs & missing)
        return gain, 0 if name in COSTLY else -uses[choice]
    return max(FACTORS[name], key=rank)


def make_set():
    """Problems, each from the first missing pair on, until no pair is missing. The order decides all: no chance."""
    order = all_pairs()
    missing = set(order)
    uses = collections.Counter()
    while missing:
        first = next(pair for pair in order if pair in missing)
        problem = {FACTOR_OF[choice]: choice for choice in first}
        for name in sorted(FACTORS, key=lambda name: -len(FACTORS[name])):
            if name not in problem:
                problem[name] = best_choice(problem, name, missing, uses)
        missing -= pairs_of(problem)
        uses.update(problem.values())
        yield problem


def name_of(problem):
    return "-".join(problem[name] for name in FACTORS)


def problem_of(name):
    choices = name.split("-")
    if len(choices) != len(FACTORS) or any(c not in FACTORS[f] for c, f in zip(choices, FACTORS)):
        sys.exit(f"'{name}' is not a name: a choice for each of {', '.join(FACTORS)} is")
    return dict(zip(FACTORS, choices))


def check_set():
    problems = list(make_set())
    met = set().union(*map(pairs_of, problems))
    missing = [pair for pair in all_pairs() if pair not in met]
    for pair in missing + sorted(met & EXCLUDED):
        print("wrong pair:", *pair)
    print(f"{len(problems)} problems, {len(all_pairs())} pairs, {len(missing)} missing")
    return bool(missing or met & EXCLUDED)


#===----------------------------------------------------------------------===#
# A problem's IR
#===----------------------------------------------------------------------===#

# What each variant adds: attributes, arguments, regions.
ATTRIBUTES = {"causal": "#attn.causal", "window": "#attn.window<left = 40, right = 3>", "softcap": "#attn.softcap<20.0>",
              "alibi": "#attn.alibi, #attn.causal", "document": "#attn.causal"}
ARGUMENTS = {"document": ", %idsQ: tensor<?x?xi32>, %idsKV: tensor<?x?xi32>", "bias": ", %bias: tensor<?x?x?xf32>",
             "prefix": ", %prefix: tensor<?xi32>"}
REGIONS = {
    "document": """
      mask(%b, %h, %i, %j) {
        %di = tensor.extract %idsQ[%b, %i] : tensor<?x?xi32>
        %dj = tensor.extract %idsKV[%b, %j] : tensor<?x?xi32>
        %sees = arith.cmpi eq, %di, %dj : i32
        attn.yield %sees : i1
      }""",
    "bias": """
      score(%s, %b, %h, %i, %j) {
        %e = tensor.extract %bias[%h, %i, %j] : tensor<?x?x?xf32>
        %t = arith.addf %s, %e : f32
        attn.yield %t : f32
      }""",
    # Drawn integers begin with 0.
    "prefix": """
      mask(%b, %h, %i, %j) {
        %n = tensor.extract %prefix[%b] : tensor<?xi32>
        %c24 = arith.constant 24 : i32
        %rows = arith.addi %n, %c24 : i32
        %length = arith.index_cast %rows : i32 to index
        %inPrefix = arith.cmpi slt, %j, %length : index
        %isPast = arith.cmpi sle, %j, %i : index
        %sees = arith.ori %inPrefix, %isPast : i1
        attn.yield %sees : i1
      }""",
}
LENGTHS = {"packed": ("cu_seqlens(%starts, %ends : tensor<?xi32>, tensor<?xi32>)",
                      ", %starts: tensor<?xi32>, %ends: tensor<?xi32>"),
           "kvlens": ("kv_lens(%lens : tensor<?xi32>)", ", %lens: tensor<?xi32>")}


def head_dims(problem):
    """D and Dv."""
    dims = problem["dims"][1:].split("x")
    return dims[0], dims[-1]


def emit(problem):
    variant, element = problem["variant"], problem["element"]
    d, dv = head_dims(problem)
    rows = "?x?x" if problem["layout"] in ("single", "packed") else "?x?x?x"
    q, v, lse = f"tensor<{rows}{d}x{element}>", f"tensor<{rows}{dv}x{element}>", f"tensor<{rows}f32>"
    lengths, length_arguments = LENGTHS.get(problem["layout"], ("", ""))
    using = f"using [{ATTRIBUTES[variant]}]" if variant in ATTRIBUTES else ""
    return f"""// {name_of(problem)}
func.func @attention(%q: {q}, %k: {q}, %v: {v}, %scale: f32{length_arguments}{ARGUMENTS.get(variant, "")})
    -> ({v}, {lse}) {{
  %o, %lse = attn.forward ins(%q, %k, %v : {q}, {q}, {v})
      {lengths} scale(%scale) {using}{REGIONS.get(variant, "")} : {v}, {lse}
  return %o, %lse : {v}, {lse}
}}
"""


#===----------------------------------------------------------------------===#
# Runs
#===----------------------------------------------------------------------===#


def programs(problem):
    """The lists of passes: every prefix of FlashAttention 2's and 1's, and standard attention."""
    front = make_front(problem["layout"] == "packed", "br=64 bc=32" if problem["blocks"] == "bc32" else "")
    splits = 3 if problem["splits"] == "split3" else 0
    return [*fa2_prefixes(front, splits, FLAGS[problem["rescale"]]), *fa1_prefixes(front), standard(front)]


def run_options(problem, passes):
    """Sizes and inputs. Before --tile all programs are one, since fa-run itself tiles them: a cheap size will do."""
    is_whole = "--tile" not in passes and "--decompose-attention" not in passes
    batch = {"single": 1, "batched": 2, "packed": 3, "kvlens": 2}[problem["layout"]]
    ratio = int(problem["heads"][3:])
    options, work = ["--dist=" + FLAGS[problem["inputs"]]], 0
    for sizes in [CHEAP_SIZES[0] if is_whole else problem["sizes"], *SMALL_SIZES]:
        sq, skv = map(int, sizes.split("x"))
        kv_heads = 2 if sizes in CHEAP_SIZES else 1
        options.append(f"--sizes=B={batch},Hq={ratio * kv_heads},Hkv={kv_heads},Sq={sq},Skv={skv}")
        work += batch * ratio * kv_heads * sq * skv * sum(map(int, head_dims(problem)))
    return options + (["--optimize=never"] if work < UNOPTIMIZED_WORK else [])


def run(problems):
    count, failed = 0, 0
    for problem in problems:
        lists = programs(problem)
        count += len(lists)
        source = "scripts/pairwise.py emit " + name_of(problem)
        failed += sum(run_programs(emit(problem), [passes], run_options(problem, passes), source) for passes in lists)
    print(f"{len(problems)} problems, {count} programs, {failed} failed")
    return failed > 0


def share_of(problems, text):
    """Every n-th problem from the k-th on, of "k/n"."""
    k, n = map(int, text.split("/"))
    if not 1 <= k <= n:
        sys.exit(f"'{text}' is not a share: 1/4 to 4/4 are")
    return problems[k - 1::n]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("check")
    commands.add_parser("list")
    commands.add_parser("emit").add_argument("name")
    runner = commands.add_parser("run")
    runner.add_argument("names", nargs="*")
    runner.add_argument("--share", default="1/1", help="k/n: every n-th problem from the k-th on")
    args = parser.parse_args()
    if args.command == "check":
        sys.exit(check_set())
    if args.command == "emit":
        print(emit(problem_of(args.name)), end="")
    elif args.command == "list":
        print(*map(name_of, make_set()), sep="\n")
    else:
        problems = [problem_of(name) for name in args.names] or list(make_set())
        sys.exit(run(share_of(problems, args.share)))


if __name__ == "__main__":
    main()
