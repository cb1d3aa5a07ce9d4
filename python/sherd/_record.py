"""Recording requests to stores."""

from __future__ import annotations

from types import TracebackType
from typing import Any

from . import _sherd


class Log:
    """The requests of a `with sherd.record()` block; filled in when the block ends.

    requests: a list of {"op", "key", "offset", "length"}; op is get, put, erase, move or list.
    stats: {"requests", "chunks_decoded", "chunks_encoded", "chunks_moved", "bytes_read", "bytes_written", "retries",
        "round_trips"}: requests include the parts of large objects, and those that repeated another one; round trips are
        the length of the longest chain of requests: each waited for the reply to the one before it, or came in a
        later call.
    """

    def __init__(self) -> None:
        self.requests: list[dict[str, Any]] = []
        self.stats: dict[str, int] = {}

    def __enter__(self) -> Log:
        self._before = _sherd.recorder_stats()
        _sherd.recorder_start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.requests = _sherd.recorder_stop()
        self.stats = {name: count - self._before[name] for name, count in _sherd.recorder_stats().items()}


def record() -> Log:
    """Records every store request of this process in a block, including requests of handles that were opened before:

        with sherd.record() as log:
            array[0, 0]
        print(log.requests, log.stats)
    """
    return Log()
