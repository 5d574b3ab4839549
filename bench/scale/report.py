"""The tables and the picture of docs/SCALE.md."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from . import grid, picture
from .model import REQUESTS, CostModel, Size, count_of, seconds_of, size_of
from .simulation import Cluster, simulate


def write(picture_path: Path) -> None:
    runs = grid.measured()
    fitted = [run for run in runs if run["fitted"]]
    model = CostModel.fit(fitted)
    print_factors(model)
    print_bytes(runs)
    print_predictions(model, runs)
    print_far(model)
    picture_path.write_text(picture.draw(model, runs))


def print_factors(model: CostModel) -> None:
    print("## factors, in seconds\n\n| request | times | term | factor |\n| --- | ---: | --- | ---: |")
    for request in REQUESTS:
        for name, factor in model.factors[request].items():
            if factor > 0:
                print(f"| {request} | {model.counts[request]:g} | {name} | {factor:.2e} |")


def print_bytes(runs: list[dict[str, Any]]) -> None:
    """The largest relative difference between counted and computed bytes of each kind of request."""
    print("\n## bytes: computed / counted\n")
    for request in ("pack", "hessian", "fits"):
        ratios = []
        for run in runs:
            size = size_of(run)
            for step in run["passes"]:
                if step["name"] == request and step["tasks"] == size.partitions:
                    pairs = zip(size.bytes(request), (step["bytes_sent"], step["bytes_received"]), strict=True)
                    ratios += [computed / counted for computed, counted in pairs if counted]
        tasks = {(size_of(run).partitions == run["passes"][0]["tasks"]) for run in runs}
        print(f"{request}: {min(ratios):.4f} to {max(ratios):.4f} in {len(ratios)} messages; tasks as computed: {tasks}")
    for request in ("hessian", "fits"):
        print(f"{request}: {sorted({count_of(run, request) for run in runs})} requests in a round")


def print_predictions(model: CostModel, runs: list[dict[str, Any]]) -> None:
    print("\n## measured and predicted\n")
    print("| rows | clients | features | root rows | MiB per worker | workers | measured, s | predicted, s | error |")
    print("| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    worst = {True: 0.0, False: 0.0}
    for run in sorted(runs, key=lambda run: not run["fitted"]):
        predicted = model.seconds(size_of(run))
        error = predicted / run["seconds"] - 1
        worst[run["fitted"]] = max(worst[run["fitted"]], abs(error))
        mark = "" if run["fitted"] else " not fitted"
        print(
            f"| {run['rows']:,} | {run['clients']:,} | {run['features']} | {run['root_rows'] * run['clients']:,} | {run['memory'] >> 20} | {run['workers']} | "
            f"{run['seconds']:.2f} | {predicted:.2f} | {100 * error:+.0f} %{mark} |"
        )
    print(f"\nlargest error: {100 * worst[True]:.0f} % of those fitted, {100 * worst[False]:.0f} % of the others")
    parts = [(run, {name: seconds_of(run, name) * model.counts[name] for name in REQUESTS}) for run in runs]
    for run, own in parts:
        if not run["fitted"]:
            predicted = model.parts(size_of(run))
            text = ", ".join(f"{name} {own[name]:.1f} / {predicted[name]:.1f}" for name in REQUESTS)
            print(f"{run['rows']:,} rows, {run['workers']} workers: measured / predicted {text}")
    print("\nsimulation / model at the measured sizes:")
    ratios = []
    for run in runs:
        size = size_of(run)
        ratios.append(simulate(model, size, Cluster(latency=0.0)) / model.seconds(size))
    print(f"{min(ratios):.2f} to {max(ratios):.2f}")
    size = Size(5e7, 100, 16, 2, 2 * 2.0**30)
    extra = simulate(model, size, Cluster(latency=0.0, deaths=1)) - simulate(model, size, Cluster(latency=0.0))
    print(f"simulated extra time if one of two workers dies with 5·10⁷ rows: {extra:.1f} s")


def far(workers: int) -> Size:
    """10⁴ clients and 10¹⁰ rows on machines with one worker of 16 GiB for each processor."""
    return Size(1e10, 10_000, 16, workers, 16 * 2.0**30, cores=workers)


def print_far(model: CostModel) -> None:
    size = far(100)
    print("\n## 10⁴ clients, 10¹⁰ rows, 16 features\n")
    print(f"tasks of a request {size.partitions:,}, packed rows {8 * size.rows * size.coefficients / 1e12:.2f} TB")
    for request in ("pack", "hessian", "fits"):
        sent, received = size.bytes(request)
        print(f"{request}: {sent / 1e6:.2f} MB sent, {received / 1e6:.1f} MB received")
    print("\n| workers | rows in scratch files | pack | passes | driver | round, s | simulated, s | 1 % slow ×5 | a worker dies |")
    print("| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    for workers in (10, 100, 300, 1000, 3000, 10_000):
        size = far(workers)
        parts = model.parts(size)
        simulated = [
            simulate(model, size, cluster)
            for cluster in (Cluster(), Cluster(slow_factor=5.0), Cluster(deaths=1))
        ]
        total = 8 * size.rows * size.coefficients
        print(
            f"| {workers:,} | {100 * size.spilled / total:.0f} % | {parts['pack']:.0f} | {parts['hessian'] + parts['fits']:.0f} | "
            f"{parts['driver']:.0f} | {sum(parts.values()):.0f} | " + " | ".join(f"{seconds:.0f}" for seconds in simulated) + " |"
        )
    print("\nof 1,000 workers, what does not shrink with more workers:")
    size = far(1000)
    for request in REQUESTS:
        for name in ("clients", "clients × root rows", "clients × sampled rows", "partitions", "once"):
            if name in model.factors[request]:
                seconds = model.counts[request] * model.factors[request][name] * size.terms(request)[name]
                print(f"  {request}, {name}: {seconds:.1f} s")
    ten_times = replace(size, clients=100_000, rows=1e11)
    print(f"with 10⁵ clients and 10¹¹ rows on 10,000 workers: {model.seconds(replace(ten_times, workers=10_000, cores=10_000)):.0f} s")
