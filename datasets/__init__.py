"""Toy data, the data sets of the papers with their sources, licences and splits, and user-uploaded tables.

Imports nothing of the engine or the app. Data are neither scaled nor cached; callers do both.
"""

import signal
import sys

if (
    signal.getsignal(signal.SIGINT) is signal.default_int_handler
    and sys.argv[0] == "-m"
    and "datasets" in sys.orig_argv
):  # this package runs as a program: until its modules are imported, Ctrl-C ends it without a traceback
    signal.signal(signal.SIGINT, signal.SIG_DFL)

import lazy_loader

# The names, with the modules that are imported at their first use, stand in __init__.pyi.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
