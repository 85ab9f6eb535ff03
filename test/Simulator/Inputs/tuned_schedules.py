#!/usr/bin/env python3
"""Runs each schedule of tuned tables in the simulator: tuned_schedules.py COUNT TABLES FA_RUN...

A schedule of several problems and classes runs once, for the first of them: in 20 orders, on more than one block of rows and
three of keys. TABLES is a table or a folder of tables, FA_RUN the command, COUNT the number of schedules at least.
"""
import json
import pathlib
import subprocess
import sys

SOURCE = """
func.func @attention(%q: tensor<?x?x?x{d}x{t}>, %k: tensor<?x?x?x{d}x{t}>, %v: tensor<?x?x?x{dv}x{t}>)
    -> (tensor<?x?x?x{dv}x{t}>, tensor<?x?x?xf32>) {{
  %o, %lse = attn.forward ins(%q, %k, %v : tensor<?x?x?x{d}x{t}>, tensor<?x?x?x{d}x{t}>, tensor<?x?x?x{dv}x{t}>)
      {using} : tensor<?x?x?x{dv}x{t}>, tensor<?x?x?xf32>
  return %o, %lse : tensor<?x?x?x{dv}x{t}>, tensor<?x?x?xf32>
}}
"""
SEEDS = 20


def schedules(path):
    """(architecture, problem, schedule), each schedule of one pair of head dimensions once."""
    seen = set()
    for file in sorted(path.rglob("*.json")) if path.is_dir() else [path]:
        table = json.loads(file.read_text(encoding="utf-8"))
        for problem in table["problems"]:
            for entry in problem["classes"]:
                schedule = entry["schedule"]
                key = (table["arch"], problem["head_dim"], problem["head_dim_v"], json.dumps(schedule, sort_keys=True))
                if key not in seen:
                    seen.add(key)
                    yield table["arch"], problem, schedule


def simulate(fa_run, arch, problem, schedule):
    using = {"full": "", "causal": "using [#attn.causal]"}[problem["variant"]]
    source = SOURCE.format(d=problem["head_dim"], dv=problem["head_dim_v"], t=problem["dtype"], using=using)
    options = {name: schedule[name] for name in ["br", "bc", "teams", "warps", "stages", "rescale"]}
    options |= {"ping-pong": str(schedule["ping_pong"]).lower(), "persistent": str(schedule["persistent"]).lower(),
                "overlap-tiles": str(schedule.get("overlap_tiles", False)).lower()}
    text = " ".join(f"{name}={value}" for name, value in options.items())
    pipeline = "fa3" if schedule["warps"] == 4 else "fa2"
    sizes = f"Hq=1,Hkv=1,Sq={schedule['br'] + 58},Skv={2 * schedule['bc'] + 30}"
    command = [*fa_run, "-", f"--{pipeline}=target={arch} {text}", "--on=sim", "--sim-seed=1", f"--sim-seeds={SEEDS}",
               "--check", f"--sizes={sizes}"]
    print(problem["dtype"], problem["head_dim"], problem["variant"], arch, text, flush=True)
    subprocess.run(command, input=source, text=True, check=True)


count = 0
for found in schedules(pathlib.Path(sys.argv[2])):
    simulate(sys.argv[3:], *found)
    count += 1
assert count >= int(sys.argv[1]), f"{count} schedules"
