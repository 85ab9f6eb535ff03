// The design's sketch at its three stages is right, in the order of the cost table and in others; with more work items than
// thread blocks as well, where rings and barriers go on from one item to the next.

// DEFINE: %{kernel} = mapped
// DEFINE: %{run} = fa-run %S/../Dialect/Cta/sketch.mlir --on=sim --reference=%S/Inputs/attention-128.mlir --check --sim-kernel=%{kernel} --sizes=Sq=256,Skv=512 --sizes=B=2,Hq=1,Hkv=1,Sq=200,Skv=128

// RUN: %{run}
// RUN: %{run} --sim-seed=1
// RUN: %{run} --sim-seed=2 --sim-blocks=1
// REDEFINE: %{kernel} = staged
// RUN: %{run}
// RUN: %{run} --sim-seed=1
// RUN: %{run} --sim-seed=2 --sim-blocks=1
// REDEFINE: %{kernel} = specialised
// RUN: %{run}
// RUN: %{run} --sim-seed=1
// RUN: %{run} --sim-seed=2
// RUN: %{run} --sim-seed=3 --sim-blocks=1
// RUN: %{run} --sim-seed=4 --sim-blocks=3
