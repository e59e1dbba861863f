"""Coroutines in a thread of their own: Playwright keeps a loop running in the main thread of a worker."""

import asyncio
from concurrent.futures import ThreadPoolExecutor


def run(coroutine):
    """What a coroutine returns."""
    return apart(asyncio.run, coroutine)


def apart(function, *arguments):
    """What a function returns that runs a loop of its own."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(function, *arguments).result()
