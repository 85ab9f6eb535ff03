"""The package's version: that of the project (CMakeLists.txt), which a test holds it to."""

__version__ = "0.1.0"
