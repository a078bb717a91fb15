"""Loaders of benchmarks whose data lives outside the code, one module each."""
