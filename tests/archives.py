"""Zip archives made by Python."""

import pathlib
import zipfile


def zipped(folder, archive, root=""):
    with zipfile.ZipFile(archive, "w") as to:
        for path in sorted(pathlib.Path(folder).rglob("*")):
            if path.is_file():
                to.write(path, root + str(path.relative_to(folder)))
