"""The parts of bench/compare. Standard library only: what needs NumPy runs in the virtual environment."""
