"""Rounds on Dask workers: measured, modelled and simulated."""
