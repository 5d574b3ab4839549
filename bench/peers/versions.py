"""Prints the versions of Python and the libraries as JSON."""

import json
import platform
from importlib import metadata

import numpy as np
import threadpoolctl

libraries = ("numpy", "scipy", "jax", "jaxlib", "jaxopt")
versions = {name: metadata.version(name) for name in libraries}
blas = [pool for pool in threadpoolctl.threadpool_info() if pool["user_api"] == "blas"]
blas_names = "; ".join(f"{pool['internal_api']} {pool['version']}, kernels for {pool['architecture']}" for pool in blas)
found = ", ".join(np.show_config(mode="dicts")["SIMD Extensions"].get("found", []))
print(json.dumps({"python": platform.python_version(), "blas": blas_names, "numpy_simd": found, **versions}))
