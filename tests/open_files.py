"""What a running process has open."""

import os


def open_files(pid):
    """The paths of its open files, and the kernel's words for pipes and sockets; an empty list if the process has ended.

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
