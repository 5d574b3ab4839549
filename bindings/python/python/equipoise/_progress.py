"""Progress of long calls: none, a tqdm bar, or a function of the caller."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeAlias

# False: none. True: a tqdm bar. A function: called with the steps done and the largest number that may be needed.
Progress: TypeAlias = bool | Callable[[int, int], object]

Report: TypeAlias = Callable[[int, int], object]


@contextmanager
def reporting(progress: Progress, what: str) -> Iterator[Report | None]:
    """The function that the native module calls."""
    if not isinstance(progress, bool):
        yield progress
    elif not progress:
        yield None
    else:
        try:
            from tqdm.auto import tqdm
        except ImportError as error:
            raise ImportError("progress=True needs tqdm: pip install 'equipoise[progress]'") from error
        with tqdm(desc=what) as bar:

            def show(done: int, of: int) -> None:
                # A loop that stops at a tolerance may take more steps than estimated.
                bar.total = max(done, of)
                bar.n = done
                bar.refresh()

            yield show
