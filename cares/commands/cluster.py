"""`cares cluster`: a Ray of this machine for CARES_EXECUTOR=ray, started once for many runs."""

from __future__ import annotations

from typing import Annotated

import typer

from cares.core import ray_cluster
from cares.core.errors import CaresError

app = typer.Typer(help="A Ray cluster on this machine, for CARES_EXECUTOR=ray.", no_args_is_help=True)


@app.command()
def start(
    port: Annotated[int | None, typer.Option(min=1, max=65535, help="Port on 127.0.0.1; by default free.")] = None,
    workers: Annotated[
        int | None, typer.Option(min=1, help="How many items are worked on at once; by default CARES_WORKERS.")
    ] = None,
) -> None:
    """Start a cluster on loopback; it runs until `cares cluster stop`."""
    cluster = ray_cluster.start(port, workers)
    print(f"a cluster of {cluster.workers} workers runs at {cluster.address}; use it with:")
    print(f"export CARES_EXECUTOR=ray CARES_RAY_ADDRESS={cluster.address}")


@app.command()
def status() -> None:
    """Say whether the cluster runs that was started here, and where; status 1 when it does not."""
    cluster = ray_cluster.running()
    if cluster is None:
        raise CaresError("no cluster runs that cares cluster start has started")
    print(f"a cluster of {cluster.workers} workers runs at {cluster.address} (process {cluster.pid})")


@app.command()
def stop() -> None:
    """End the cluster that was started here, and nothing else."""
    cluster = ray_cluster.stop()
    print("no cluster ran" if cluster is None else f"the cluster at {cluster.address} is stopped")
