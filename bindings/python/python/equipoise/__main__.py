"""The command `equipoise`: the same program as the Rust binary."""

import signal
import sys

from . import _core


def main() -> None:
    """Run the command and end the process with its exit code."""
    # Python's own handler would wait until the program returns to Python, which it never does.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    # Child processes of the server start the program again, isolated from the user's environment.
    _core.main(sys.argv[1:], sys.executable, ["-I", "-m", "equipoise"])


if __name__ == "__main__":
    main()
