"""What a running process has open."""

import os
import pathlib


def open_files(pid):
    """The names of its open files, and what stands for those without a name; none if the process has ended.

    A file that the process closes meanwhile is left out.
    """
    names = []
    try:
        for link in os.listdir(f"/proc/{pid}/fd"):
            try:
                names.append(os.readlink(f"/proc/{pid}/fd/{link}"))
            except FileNotFoundError:
                pass
    except (FileNotFoundError, PermissionError, ProcessLookupError):
        pass
    return names


def has_lock_open(pid):
    """Whether the process waits for a lock of Sherd's or holds one."""
    return any(".sherd-lock" in name for name in open_files(pid))
