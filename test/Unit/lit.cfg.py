# The GoogleTest programs: every build/bin/*-tests, each of its tests counted.
import os

import lit.formats

config.name = "Flashloom-Unit"
config.test_source_root = os.path.join(config.fa_binary_dir, "bin")
config.test_exec_root = config.test_source_root
config.suffixes = []

# Seconds. GNU timeout is in every Debian, what lit's own needs is not; by KILL, so that children go too.
config.test_format = lit.formats.GoogleTest(".", "-tests", run_under="timeout -s KILL 360")
