import signal


def heed_interrupts():
    """For a child, even where the program that started the tests ignores them, as shells do for what runs in the background."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
