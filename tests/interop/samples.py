"""Stores that other programs have left in tests/data."""


def unpack(archive, folder, to):
    """Extracts a folder of a zip file below `to`, and gives its path there."""
    for name in archive.namelist():
        if name.startswith(folder + "/"):
            archive.extract(name, to)
    return to / folder
