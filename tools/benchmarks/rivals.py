#!/usr/bin/env python3
"""The rivals of strop's causal_conv1d beside it, in one run on one machine: fla (flash-linear-attention's Triton kernels), Dao's
causal-conv1d and torch.compile, on the rows of `strop bench --suite table`, which is run first and tells what the rows are.

    python3 tools/benchmarks/rivals.py --strop build/bin/strop --out rivals.json
    build/bin/strop bench causal_conv1d --from rivals.json --plot bandwidth.svg --markdown

Needs torch and a GPU. A rival that can't be imported is recorded as absent, a row that a rival refuses with its sentence; neither is a
failure. Measured as strop measures itself: inputs and outputs rotate past twice the L2; a sample is a batch of calls between two
events, behind a spin kernel that lasts until the host has queued the batch; 49 samples, their median, half the distance of their
quartiles. The backward is torch.autograd.grad on a kept graph and includes the weight gradient. Each forward is compared with fp64.
"""
import argparse
import collections
import contextlib
import datetime
import gc
import importlib
import importlib.metadata
import json
import math
import os
import statistics
import subprocess
import sys
import time

SAMPLES = 49
BATCH_US = 100.0
MOST_CALLS = 16
HOST_ROUNDS, HOST_CALLS = 15, 20
CHECKED_ROWS = 512
SPIN_CYCLES_A_US = 2000  # at about the highest clock: rather too long than too short


def version_of(*packages):
    for package in packages:
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            return importlib.metadata.version(package)
    return ""


# ------------------------------------------------------------------------------------------------------------ the rivals
# Each: maker(row tensors) -> f(x, w) -> y. What is not installed fails in the import.

def formula(x, w, position, double=False):
    """The convolution as shifted products; position[t] is the row's number in its sequence (None: dense)."""
    import torch
    import torch.nn.functional as F
    wide = torch.float64 if double else torch.float32
    T, W = x.shape[1], w.shape[1]
    xf, wf = x.to(wide), w.to(wide)
    pre = xf * wf[:, W - 1]
    for back in range(1, W):
        shifted = F.pad(xf, (0, 0, back, 0))[:, :T] * wf[:, W - 1 - back]
        if position is not None:
            shifted = torch.where((position >= back)[None, :, None], shifted, torch.zeros_like(shifted))
        pre = pre + shifted
    return F.silu(pre).to(wide if double else x.dtype)


def make_fla(data):
    from fla.modules.convolution import causal_conv1d
    more = {"cu_seqlens": data.bounds} if data.bounds is not None else {}
    return lambda x, w: causal_conv1d(x=x, weight=w, activation="silu", backend="triton", **more)[0]


def make_dao(data):
    from causal_conv1d import causal_conv1d_fn
    more = {"seq_idx": data.sequence} if data.bounds is not None else {}
    return lambda x, w: causal_conv1d_fn(x.transpose(1, 2), w, activation="silu", **more).transpose(1, 2)


def make_compile(data):
    import torch
    torch._dynamo.reset()  # a compilation a row, with no limit on their number
    compiled = torch.compile(formula, dynamic=False, fullgraph=True)
    return lambda x, w: compiled(x, w, data.position)


Rival = collections.namedtuple("Rival", "name module packages make")
RIVALS = [Rival("fla", "fla.modules.convolution", ("flash-linear-attention", "fla-core"), make_fla),
          Rival("causal-conv1d", "causal_conv1d", ("causal-conv1d", "causal_conv1d"), make_dao),
          Rival("torch.compile", "torch", ("torch",), make_compile)]


# ------------------------------------------------------------------------------------------------------------ the data
class Data:
    """Sets of tensors of one row, enough of them that each call finds a cold L2."""

    def __init__(self, row, device, most_sets=None):
        import torch
        types = {"bf16": torch.bfloat16, "fp16": torch.float16, "fp32": torch.float32}
        B, T, D, W = (row["shape"][axis] for axis in "BTDW")
        dtype, self.device = types[row["dtype"]], device
        generator = torch.Generator(device=device).manual_seed(1)
        size = torch.empty((), dtype=dtype).element_size()
        l2 = torch.cuda.get_device_properties(0).L2_cache_size if device == "cuda" else 0
        self.sets = int(2 * l2 / (2 * B * T * D * size)) + 1
        if most_sets:
            self.sets = min(self.sets, most_sets)
        offset = row["alignment"] // size if row["alignment"] < 16 else 0

        def tensor(strides=None):
            if not strides:
                return torch.randn(B, T, D, device=device, dtype=dtype, generator=generator)
            extent = offset + sum((n - 1) * s for n, s in zip((B, T, D), strides)) + 1
            flat = torch.randn(extent, device=device, dtype=dtype, generator=generator)
            return flat.as_strided((B, T, D), strides, offset)

        strided = tuple(row["x_strides"]) != (T * D, D, 1) or offset > 0
        self.x = [tensor(row["x_strides"] if strided else None) for _ in range(self.sets)]
        self.dy = [tensor() for _ in range(self.sets)]
        self.leaves = [x.detach().requires_grad_(True) for x in self.x]
        self.w = (torch.randn(D, W, device=device, generator=generator) * 0.5).to(types[row["wdtype"]])
        self.leaf_w = self.w.detach().clone().requires_grad_(True)
        self.bounds = self.position = self.sequence = None
        if row.get("cu_seqlens"):
            self.pack(row["cu_seqlens"], T)

    def pack(self, bounds, T):
        import torch
        self.bounds = torch.tensor(bounds, device=self.device, dtype=torch.int32)
        lengths = (self.bounds[1:] - self.bounds[:-1]).long()
        sequence = torch.repeat_interleave(torch.arange(len(lengths), device=self.device), lengths)
        self.position = torch.arange(T, device=self.device) - self.bounds.long()[sequence]
        self.sequence = sequence.to(torch.int32)[None]


def relative_error(data, y):
    """Root mean square of the first rows of the first sequence against fp64."""
    rows = min(CHECKED_ROWS, y.shape[1])
    position = None if data.position is None else data.position[:rows]
    right = formula(data.x[0][:1, :rows], data.w, position, double=True)
    wrong = y[:1, :rows].double() - right
    return float((wrong.square().sum() / right.square().sum()).sqrt())


# ------------------------------------------------------------------------------------------------------------ the clock
def quartile_spread(samples):
    below, _, above = statistics.quantiles(samples, n=4, method="inclusive")
    return (above - below) / 2


def host_time(torch, call):
    samples = []
    for _ in range(HOST_ROUNDS):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        for i in range(HOST_CALLS):
            call(i)
        samples.append((time.perf_counter() - begin) / HOST_CALLS * 1e6)
    torch.cuda.synchronize()
    return statistics.median(samples)


def measure(torch, function, sets):
    """function(set) -> what has to stay alive, so that the outputs rotate too."""
    kept, count = [None] * sets, 0

    def call(_=0):
        nonlocal count
        kept[count % sets] = function(count % sets)
        count += 1

    for _ in range(max(5, sets)):
        call()
    host_us = host_time(torch, call)

    def sample(calls):
        torch.cuda._sleep(int((1.5 * host_us * calls + 50) * SPIN_CYCLES_A_US))
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        for _ in range(calls):
            call()
        end.record()
        return begin, end

    begin, end = sample(1)
    torch.cuda.synchronize()
    calls = max(1, min(MOST_CALLS, math.ceil(BATCH_US / max(1.0, begin.elapsed_time(end) * 1e3))))
    events = [sample(calls) for _ in range(SAMPLES)]
    torch.cuda.synchronize()
    times = [begin.elapsed_time(end) * 1e3 / calls for begin, end in events]
    return {"median_us": statistics.median(times), "spread_us": quartile_spread(times), "min_us": min(times), "samples": len(times),
            "host_us": host_us}


def measure_rival(torch, rival, data):
    f = rival.make(data)

    def forward(i):
        with torch.no_grad():
            return f(data.x[i], data.w)

    result = {"y_error": relative_error(data, forward(0)), "forward": measure(torch, forward, data.sets)}
    outputs = [f(data.leaves[i], data.leaf_w) for i in range(data.sets)]

    def backward(i):
        return torch.autograd.grad(outputs[i], (data.leaves[i], data.leaf_w), data.dy[i], retain_graph=True)

    result["backward"] = measure(torch, backward, data.sets)
    return result


# ------------------------------------------------------------------------------------------------------------ the run
def sentence(error):
    return f"{type(error).__name__}: {error}".strip().splitlines()[0][:300]


def free(torch):
    gc.collect()
    torch.cuda.empty_cache()


def warm_compilers(rivals, rows, share, of):
    """In a process of its own: one call of each rival on every `of`-th row, so that the compilers' caches on disk hold what tuning
    tries. Nothing is timed."""
    import torch
    for row in rows[share::of]:
        for rival in rivals:
            with contextlib.suppress(Exception):  # told by the run itself
                data = Data(row, "cuda", most_sets=1)
                f = rival.make(data)
                with torch.no_grad():
                    f(data.x[0], data.w)
                torch.autograd.grad(f(data.leaves[0], data.leaf_w), (data.leaves[0], data.leaf_w), data.dy[0])
                torch.cuda.synchronize()
            free(torch)


def warm_in_parallel(arguments, processes, limit_s):
    begin = time.monotonic()
    running = [subprocess.Popen([sys.executable, os.path.abspath(__file__), *arguments, "--warm", str(i), str(processes)],
                                stdout=subprocess.DEVNULL) for i in range(processes)]
    for process in running:
        try:
            process.wait(timeout=max(1.0, limit_s - (time.monotonic() - begin)))
        except subprocess.TimeoutExpired:
            process.kill()
    print(f"compilers warmed by {processes} processes in {time.monotonic() - begin:.0f} s", file=sys.stderr, flush=True)


def strop_document(command, words):
    ran = subprocess.run([command, *words], stdout=subprocess.PIPE, text=True)
    if ran.returncode != 0:
        sys.exit(f"rivals: {command} {' '.join(words)} ended with exit code {ran.returncode}: {ran.stdout.strip()}")
    return json.loads(ran.stdout)


def save(path, document):
    with open(path + ".part", "w") as out:
        json.dump(document, out, indent=1)
        out.write("\n")
    os.replace(path + ".part", path)


def versions_here(torch):
    versions = {"python": sys.version.split()[0], "torch": torch.__version__, "cuda": torch.version.cuda or ""}
    if triton := version_of("triton"):
        versions["triton"] = triton
    return versions


def present(rival):
    """Empty when it can be imported, else why not."""
    try:
        importlib.import_module(rival.module)
    except Exception as error:
        return sentence(error)
    return ""


def chosen(options):
    return [rival for rival in RIVALS if not options.rivals or rival.name in options.rivals.split(",")]


def run(options, torch, document):
    end = time.monotonic() + options.budget
    rows = document["strop"]["rows"]
    for row in rows:
        for entry, rival in zip(document["rivals"], chosen(options)):
            if entry["absent"]:
                continue
            if time.monotonic() > end:
                entry["rows"][row["name"]] = {"error": "the time given was over"}
                continue
            try:
                entry["rows"][row["name"]] = measure_rival(torch, rival, Data(row, "cuda"))
            except Exception as error:  # a refusal of one row; the others go on
                entry["rows"][row["name"]] = {"error": sentence(error)}
            free(torch)
            print(row["name"], rival.name, json.dumps(entry["rows"][row["name"]]), file=sys.stderr, flush=True)
        save(options.out, document)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--strop", default="build/bin/strop", help="the strop command")
    parser.add_argument("--out", default="rivals.json", help="where the results go")
    parser.add_argument("--rivals", default="", help="only these, with commas: fla,causal-conv1d,torch.compile")
    parser.add_argument("--budget", type=float, default=3600, help="seconds for measuring the rivals; the rows left are recorded as such")
    parser.add_argument("--warm-limit", type=float, default=150, help="seconds for warming the rivals' compilers")
    parser.add_argument("--warm", type=int, nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    suite = ["bench", "causal_conv1d", "--suite", "table", "--json"]
    if options.warm:
        return warm_compilers(chosen(options), strop_document(options.strop, [*suite, "--list"])["rows"], *options.warm)
    document = {"schema": 1, "command": "rivals", "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")}
    document["strop"] = strop_document(options.strop, ["--cache", ":memory:", *suite])
    document["rivals"] = []
    save(options.out, document)
    import torch
    if not torch.cuda.is_available():
        sys.exit("rivals: torch finds no GPU")
    # The same graph is walked backward again and again.
    importlib.import_module("torch._functorch.config").donated_buffer = False
    document["versions"] = versions_here(torch)
    for rival in chosen(options):
        version = "" if rival.name == "torch.compile" else version_of(*rival.packages)  # torch's is among the versions
        document["rivals"].append({"name": rival.name, "version": version, "absent": present(rival), "rows": {}})
    warm_in_parallel(["--strop", options.strop, "--rivals", options.rivals], max(1, min(16, os.cpu_count() or 1)), options.warm_limit)
    run(options, torch, document)
    print(f"wrote {options.out}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
