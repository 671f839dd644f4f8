"""How much processor time the editor takes from the start of the interpreter to the first picture of a net."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

__all__ = ["start_time"]

#: What :func:`app.main.main` and :func:`app.start.run_editor` do until the net is seen.
_PROGRAM = """
import gc, os, sys, time
gc.disable()
from pathlib import Path
from app.start import make_application, share_interpreter
from app.collector import CalmCollector
from app.theme import Theme
from app.window.mainwindow import MainWindow
from app.window.settings import WindowSettings
from PySide6.QtCore import QSettings
share_interpreter()
app = make_application()
Theme.load("light").apply(app)
window = MainWindow(WindowSettings(QSettings(sys.argv[2], QSettings.Format.IniFormat)))
collector = CalmCollector(window)
window.files.open(Path(sys.argv[1]))
def end():
    print(time.process_time() * 1e3, flush=True)
    os._exit(0)
window.tabs.current.arranged.connect(end)
window.show()
app.exec()
"""


def start_time(net: Path, folder: Path, looks: int = 3) -> float:
    """Return milliseconds of processor time, of all threads, until a net is painted in the window; the best of some.

    The modules are compiled already, as at every start but the first.

    Parameters
    ----------
    net : Path
        The file that is opened.
    folder : Path
        Keeps the compiled modules and the settings.
    """
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment["PYTHONPYCACHEPREFIX"] = str(folder / "compiled")
    command = [sys.executable, "-c", _PROGRAM, str(net), str(folder / "settings.ini")]

    def look() -> float:
        ran = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
        return float(ran.stdout)

    look()
    return min(look() for _ in range(looks))
