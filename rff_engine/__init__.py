"""PAC-Bayesian random Fourier features.

A kernel's Fourier transform is a prior over cosines; this package learns pseudo-posteriors on it, for a whole
kernel or per landmark (Letarte, Morvant and Germain, AISTATS 2019), and bounds their losses. It needs NumPy,
SciPy, scikit-learn and lazy-loader; `rff_engine.plots` and `rff_engine.studies` are imported where they are used.

Finite input gives finite output or a ValueError of one sentence: numbers above 1e100 in size are refused, and a
function with a lower limit documents it (tests/engine/test_every_call.py).

Arrays are NumPy's, points also SciPy's sparse ones. Arrays of other libraries, such as PyTorch, are refused:
pass ``numpy.asarray(X)``.

Functions with `n_jobs` use threads if there is enough work, by default all that are allowed. This is the number that
OpenMP may use: the cores of this process, or the limit set by `OMP_NUM_THREADS`, `threadpoolctl.threadpool_limits` or
a joblib worker. In a thread of a joblib pool it is 1. As in scikit-learn, `n_jobs=2` uses two threads, 1 only the
caller's, -1 all that are allowed, and ``None`` the number set by `joblib.parallel_config`, if any. Results do not
depend on it. BLAS and k-means have their own threads, limited by `threadpool_limits`.
"""

import signal as _signal
import sys as _sys
from pathlib import Path as _Path

if _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler and (
    _Path(_sys.argv[0]).stem == "rff-engine"
    or (_sys.argv[0] == "-m" and any(name.partition(".")[0] == "rff_engine" for name in _sys.orig_argv))
):  # until a program of this package has imported its modules, Ctrl-C ends it without a traceback
    _signal.signal(_signal.SIGINT, _signal.SIG_DFL)

import lazy_loader as _lazy

# The names, with the modules that are imported at their first use, stand in __init__.pyi.
__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__, __file__)

__version__ = "0.1.0"
