"""The package's version: that of the project (fa_runtime.h), which a test holds it to."""

__version__ = "0.4.0"
